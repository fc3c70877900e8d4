import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../../harness/system/process-stats.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { openClients } from './protocols.ts';
import type { Abuse } from './requests.ts';

/**
 * The memory to plan for one ingest process under any load: 160 and 64 MiB for the heaps of the threads for
 * costly and large batches, 128 for bodies (INGEST_BYTES_IN_FLIGHT_MAX), 60 for Node, 100 for malloc, and the
 * rest for the heap of the event loop, which reads small batches only (ADR 0013).
 */
export const residentBytesMax = 640 * 1024 ** 2;

const idleMs = 10_000;
const sampleMs = 50;

interface MemoryOptions {
  rounds: number;
  /**
   * Concurrent requests. A 503 means that the thread had too little memory for a batch; with 5 or more it may
   * also mean that too many costly batches waited.
   */
  atOnce: number;
  say: (text: string) => void;
}

/** Sends every kind of abuse, in some rounds, and prints the memory of ingest. @returns the faults. */
export async function measureMemory(
  weir: RunningWeir,
  kinds: readonly Abuse[],
  { rounds, atOnce, say }: MemoryOptions,
): Promise<string[]> {
  const pid = weir.pidOf('ingest');
  const faults: string[] = [];
  say(`${kinds.length} kinds of abuse, ${atOnce} at a time; ingest has ${mebibytes(residentBytes(pid))}`);
  for (let round = 1; round <= rounds; round++) {
    const { bytes, kind, statuses } = await sendAll(weir, kinds, atOnce);
    await sleep(idleMs);
    const idle = mebibytes(residentBytes(weir.pidOf('ingest')));
    say(
      `round ${round}: at most ${mebibytes(bytes)} (${kind}), ${idle} after ${idleMs / 1_000} idle seconds; ${describeStatuses(statuses)}`,
    );
    if (bytes > residentBytesMax) faults.push(`ingest took more than ${mebibytes(residentBytesMax)}`);
    if ([...statuses.keys()].some((status) => status >= 500)) faults.push('ingest answered with 5xx');
  }
  if (weir.pidOf('ingest') !== pid) faults.push('ingest ended and was started again');
  return faults;
}

/** @returns the peak, the kind that was sent at that moment, and the responses by status. */
async function sendAll(
  { connection: { ingestUrl, apiKey }, pidOf }: RunningWeir,
  kinds: readonly Abuse[],
  atOnce: number,
) {
  await using clients = openClients(ingestUrl);
  const statuses = new Map<number, number>();
  let current = '';
  const peak = watchResident(pidOf('ingest'), () => current);
  // The concurrent loops share one iterator: each takes the next kind.
  const queue = kinds.values();
  const sendInTurn = async () => {
    for (const { name, protocol, make } of queue) {
      current = `${protocol.name}: ${name}`;
      const status = await clients[protocol.httpVersion](make(apiKey));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  return { ...peak.stop(), statuses };
}

/** Measures the peak of a process's resident memory, and the kind of abuse at that time. */
export function watchResident(
  pid: number,
  kindNow: () => string,
): { stop(): { bytes: number; kind: string } } {
  let peak = { bytes: residentBytes(pid), kind: kindNow() };
  const timer = setInterval(() => {
    const bytes = residentBytes(pid);
    if (bytes > peak.bytes) peak = { bytes, kind: kindNow() };
  }, sampleMs);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

export function describeStatuses(statuses: Iterable<[status: number, count: number]>): string {
  const sorted = [...statuses].sort(([a], [b]) => a - b);
  return sorted.map(([status, count]) => `${count} × ${status}`).join(', ');
}
