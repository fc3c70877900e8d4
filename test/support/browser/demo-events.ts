import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const sample = fileURLToPath(new URL('../../../examples/events.ndjson', import.meta.url));

/** The fields of a sample event that tests read or change. */
export interface DemoEvent {
  id: string;
  type: 'llm' | 'tool';
  traceId: string;
  startTimeMs: number;
  endTimeMs: number;
  durationMs: number;
  status: { state: 'ok' | 'error'; error?: { code?: string; httpStatus?: number; message?: string } };
  context: { threadId?: string; userId?: string; agentId?: string; agentGroupId?: string };
  properties: { llm?: Record<string, unknown>; tool?: Record<string, unknown> };
}

/** The sample events with new ids, shifted in time so that the last one ends a minute before `nowMs`. */
export function demoEvents(nowMs = Date.now()): DemoEvent[] {
  const events: DemoEvent[] = readFileSync(sample, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const shiftMs = nowMs - 60_000 - Math.max(...events.map(({ endTimeMs }) => endTimeMs));
  const traces = new Map<string, string>();
  return events.map((event) => {
    const traceId = traces.get(event.traceId) ?? randomUUID();
    traces.set(event.traceId, traceId);
    const { startTimeMs, endTimeMs } = event;
    return {
      ...event,
      id: randomUUID(),
      traceId,
      startTimeMs: startTimeMs + shiftMs,
      endTimeMs: endTimeMs + shiftMs,
    };
  });
}
