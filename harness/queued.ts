import { allStreams } from '../platform/queue/settings.ts';

const requestTimeoutMs = 2_000;

interface QueueReport {
  account_details?: { stream_detail?: StreamReport[] }[];
}

interface StreamReport {
  name: string;
  state: { messages: number; first_seq: number; last_seq: number };
  consumer_detail?: { ack_floor: { stream_seq: number } }[];
}

/** The number of messages in the queue that are not stored; undefined when a server does not respond. */
export async function countQueued(monitorUrls: readonly string[]): Promise<number | undefined> {
  try {
    return Math.max(...(await Promise.all(monitorUrls.map(countOnServer))));
  } catch {
    return undefined;
  }
}

async function countOnServer(url: string): Promise<number> {
  const signal = AbortSignal.timeout(requestTimeoutMs);
  const response = await fetch(new URL('/jsz?streams=1&consumers=1', url), { signal });
  const report = (await response.json()) as QueueReport;
  const streams = report.account_details?.flatMap(({ stream_detail }) => stream_detail ?? []) ?? [];
  return streams.reduce((sum, stream) => sum + countWaiting(stream), 0);
}

/**
 * By the position up to which all is acknowledged: a member that does not lead the consumer knows no other
 * figures.
 */
function countWaiting({ name, state, consumer_detail: consumers = [] }: StreamReport): number {
  const stream = allStreams.find((one) => one.name === name);
  if (stream === undefined) return 0;
  if (!stream.keepsStored) return state.messages;
  const acknowledged = Math.max(0, ...consumers.map(({ ack_floor }) => ack_floor.stream_seq));
  return Math.max(0, state.last_seq - Math.max(acknowledged, state.first_seq - 1));
}
