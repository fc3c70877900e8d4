import { toProtobufLogs } from '../../../harness/fixtures/logs.ts';
import type { Random } from '../../../harness/random.ts';
import type { ObservedTrace } from './observed-trace.ts';

/** The content of a call in a log record, as official instrumentations of OpenTelemetry send it. */
export function logOf({ spans: [observed], prompt }: ObservedTrace['events'][number]): Buffer {
  const { traceId = '', spanId = '' } = observed?.span ?? {};
  const body = JSON.stringify({ role: 'user', content: prompt ?? 'How warm?' });
  return toProtobufLogs([{ traceId, spanId, eventName: 'gen_ai.user.message', body }]);
}

export function shuffle<T>(random: Random, list: readonly T[]): T[] {
  const keyed = list.map((item) => ({ item, key: random.between(0, 1_000_000) }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** Cuts a list into random pieces. */
export function cut<T>(random: Random, list: readonly T[]): T[][] {
  const pieces: T[][] = [];
  for (let from = 0; from < list.length; ) {
    const to = from + random.between(1, 4);
    pieces.push(list.slice(from, to));
    from = to;
  }
  return pieces;
}
