import { expect } from 'vitest';
import { postEvents } from './http.ts';
import type { Pipeline, Tenant } from './pipeline.ts';
import { exchange, openSession } from './protocols/http2.ts';
import { flags, frame, headersFrame, postHeaders, type RawConnection } from './protocols/http2-frames.ts';
import { untilDrained } from './wait.ts';

/** Expects that clients on other connections are served. */
export async function expectServing(
  pipeline: Pick<Pipeline, 'url'>,
  tenant: Pick<Tenant, 'apiKey'>,
): Promise<void> {
  expect((await postEvents(pipeline, tenant, [])).status).toBe(202);
  using session = await openSession(pipeline);
  expect((await exchange(session, { ':path': '/healthz' })).status).toBe(200);
}

/** Expects that the connection itself accepts a batch on this stream. */
export async function expectServingOn(
  connection: RawConnection,
  { apiKey }: Pick<Tenant, 'apiKey'>,
  streamId: number,
): Promise<void> {
  connection.send(headersFrame(streamId, postHeaders(apiKey)), emptyBatch(streamId));
  expect((await connection.untilFrame('data', streamId)).payload.toString()).toContain('Queued 0 events.');
}

/** A DATA frame with a complete, empty batch. */
export function emptyBatch(streamId: number): Buffer {
  return frame('data', { flags: flags.endStream, streamId, payload: Buffer.from('{"events":[]}') });
}

/** Expects that misuse had no effect: quarantine is empty, and ingest logged no error. */
export async function expectNoHarm(pipeline: Pipeline): Promise<void> {
  await untilDrained(pipeline);
  expect(await pipeline.sql`SELECT FROM quarantine`).toHaveLength(0);
  expect(pipeline.ingest.log()).not.toMatch(/"level":[56]0/);
}
