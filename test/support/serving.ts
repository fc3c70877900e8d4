import { expect } from 'vitest';
import { postEvents } from './http.ts';
import { exchange, openSession } from './http2.ts';
import { flags, frame, headersFrame, postHeaders, type RawConnection } from './http2-frames.ts';
import type { Pipeline, Tenant } from './pipeline.ts';
import { untilDrained } from './wait.ts';

/** Others are served, whatever somebody does, on connections of their own. */
export async function expectServing(
  pipeline: Pick<Pipeline, 'url'>,
  tenant: Pick<Tenant, 'apiKey'>,
): Promise<void> {
  expect((await postEvents(pipeline, tenant, [])).status).toBe(202);
  using session = await openSession(pipeline);
  expect((await exchange(session, { ':path': '/healthz' })).status).toBe(200);
}

/** The connection itself has not suffered: it takes a batch on this stream. */
export async function expectServingOn(
  connection: RawConnection,
  { apiKey }: Pick<Tenant, 'apiKey'>,
  streamId: number,
): Promise<void> {
  connection.send(headersFrame(streamId, postHeaders(apiKey)), emptyBatch(streamId));
  expect((await connection.untilFrame('data', streamId)).payload.toString()).toContain('Queued 0 events.');
}

/** The body of a batch without events, all of it. */
export function emptyBatch(streamId: number): Buffer {
  return frame('data', { flags: flags.endStream, streamId, payload: Buffer.from('{"events":[]}') });
}

/** Ends a pipeline that met bad clients: nothing of theirs is in quarantine, and no fault of theirs was logged as ours. */
export async function disposeUnharmed(pipeline: Pipeline): Promise<void> {
  await using _disposed = pipeline;
  await untilDrained(pipeline);
  expect(await pipeline.sql`SELECT FROM quarantine`).toHaveLength(0);
  expect(pipeline.ingest.log()).not.toMatch(/"level":[56]0/);
}
