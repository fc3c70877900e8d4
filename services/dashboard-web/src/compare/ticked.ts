import { useSyncExternalStore } from 'react';

export interface Ticked {
  id: string;
  startTimeMs: number;
  traceId: string | null;
}

/**
 * At most two: a third replaces the first. They stay ticked on other pages, so that events of two lists can
 * be compared.
 */
let ticked: readonly Ticked[] = [];
const listeners = new Set<() => void>();

export function useTicked(): readonly Ticked[] {
  return useSyncExternalStore(subscribe, () => ticked);
}

export function toggleTicked({ id, startTimeMs, traceId }: Ticked): void {
  const others = ticked.filter((one) => one.id !== id);
  setTicked(others.length < ticked.length ? others : [...ticked.slice(-1), { id, startTimeMs, traceId }]);
}

export function clearTicked(): void {
  setTicked([]);
}

function setTicked(next: readonly Ticked[]): void {
  ticked = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
