import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ErrorBody } from '../../event/errors.ts';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { mediaBytesMax } from '../../platform/limits.ts';
import { revokeApiKey } from '../../store/accounts/api-keys.ts';
import { media, mediaUses } from '../../store/db/schema.ts';
import { openDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { Tenant } from '../support/pipeline.ts';
import {
  announceMedia,
  basicAuth,
  mediaIdOf,
  putMedia,
  readAnnounced,
  uploadMedia,
} from '../support/protocols/langfuse-media.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until, untilDrained } from '../support/wait.ts';

/* Media that Langfuse's SDKs upload apart: a POST announces them, a PUT has their bytes, a PATCH a report */

const { pipeline, tenant } = usePipeline({ expectNoHarm: true });
let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard({ databaseUrl: pipeline.variables.DATABASE_URL ?? '' });
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const traceId = () => randomBytes(16).toString('hex');
const announce = (
  bytes: Buffer,
  use: object = {},
  { apiKey }: Pick<Tenant, 'apiKey'> = tenant,
  headers: Record<string, string> = {},
) => announceMedia({ url: pipeline.url, apiKey }, bytes, use, headers);

async function upload(bytes: Buffer, use: object, { apiKey }: Tenant): Promise<void> {
  expect(await uploadMedia({ url: pipeline.url, apiKey }, bytes, use)).toBe(mediaIdOf(bytes));
  await untilDrained(pipeline);
}

const read = (spaceId: string, id: string, headers: Record<string, string>) =>
  fetch(`${dashboard.url}/media/${spaceId}/${id}`, { headers });

test('media are read as they were uploaded, by the members of their space only', async () => {
  const bytes = randomBytes(300_000);
  const answer = await announce(bytes);
  expect(answer.status).toBe(201);
  const { mediaId, uploadUrl } = await readAnnounced(answer);
  expect(mediaId).toBe(mediaIdOf(bytes));
  expect((await putMedia(uploadUrl, bytes)).status).toBe(200);
  const report = { uploadedAt: new Date().toISOString(), uploadHttpStatus: 200, uploadTimeMs: 3 };
  const patch = (headers: Record<string, string>) =>
    fetch(`${pipeline.url}/api/public/media/${mediaId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(report),
    });
  expect((await patch(basicAuth(tenant.apiKey))).status).toBe(200);
  expect((await patch({})).status).toBe(401);
  await untilDrained(pipeline);
  const member = await dashboard.addMember(tenant, 'viewer');
  const cookie = member.client.cookie ?? '';
  const got = await read(tenant.spaceId, mediaId, { cookie });
  expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes);
  // A sender chooses the type and the bytes, so no browser may run them.
  expect(Object.fromEntries(got.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'content-security-policy': expect.stringMatching(/^sandbox;/),
    'x-content-type-options': 'nosniff',
  });
  expect((await read(tenant.spaceId, mediaId, {})).status).toBe(401);
  expect((await read(member.spaceId, mediaId, { cookie })).status).toBe(404);
  const stranger = await dashboard.addSpace();
  expect((await read(tenant.spaceId, mediaId, { cookie: stranger.client.cookie ?? '' })).status).toBe(404);
  for (const id of ['', 'x', '%00', `${mediaId}/x`, mediaIdOf(randomBytes(9))])
    expect([id, (await read(tenant.spaceId, id, { cookie })).status]).toEqual([id, 404]);
});

test('the same bytes are stored once in a space, and each of their uses', async () => {
  const [own, other] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const bytes = randomBytes(1_000);
  const [first, second] = [traceId(), traceId()];
  await upload(bytes, { traceId: first }, own);
  for (const use of [{ traceId: first }, { traceId: second }, { traceId: second, observationId: null }]) {
    const { mediaId, uploadUrl } = await readAnnounced(announce(bytes, use, own));
    expect([mediaId, uploadUrl]).toEqual([mediaIdOf(bytes), null]);
  }
  await untilDrained(pipeline);
  expect(await pipeline.database.$count(media, eq(media.spaceId, own.spaceId))).toBe(1);
  const uses = await pipeline.database.select().from(mediaUses).where(eq(mediaUses.spaceId, own.spaceId));
  expect(uses.map(({ eventId }) => eventId === null).toSorted()).toEqual([false, false, true]);
  // Another space does not have them.
  expect((await readAnnounced(announce(bytes, {}, other))).uploadUrl).not.toBeNull();
});

test('an upload that is sent again, to any ingest, is stored once', async () => {
  const own = await pipeline.createTenant();
  const second = await pipeline.start('ingest');
  const bytes = randomBytes(1_000);
  const { uploadUrl } = await readAnnounced(announce(bytes, {}, own));
  const url = new URL(uploadUrl);
  url.port = new URL(second.ready.url ?? '').port;
  for (const address of [uploadUrl, String(url), uploadUrl])
    expect((await putMedia(address, bytes)).status).toBe(200);
  await untilDrained(pipeline);
  expect(await pipeline.database.$count(mediaUses, eq(mediaUses.spaceId, own.spaceId))).toBe(1);
});

test('only the announced bytes are taken, and only with the token', async () => {
  const bytes = randomBytes(1_000);
  const { uploadUrl, mediaId } = await readAnnounced(announce(bytes));
  const errorOf = async (answer: Response) => [answer.status, ((await answer.json()) as ErrorBody).error.id];
  expect(await errorOf(await putMedia(uploadUrl, randomBytes(1_000)))).toEqual([400, 'invalid_request_body']);
  expect(await errorOf(await putMedia(uploadUrl, bytes.subarray(1)))).toEqual([400, 'invalid_request_body']);
  const token = new URL(uploadUrl).searchParams.get('token') ?? '';
  const [payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, untilMs: claims.untilMs + 1 })).toString(
    'base64url',
  );
  const bare = `${pipeline.url}/api/public/media/${mediaId}`;
  for (const address of [
    bare,
    `${bare}?token=`,
    `${bare}?token=${forged}.${signature}`,
    `${bare}?token=${payload}`,
  ])
    expect(await errorOf(await putMedia(address, bytes))).toEqual([401, 'unauthorized']);
});

test('an upload that was announced is refused once its key is revoked', async () => {
  const own = await pipeline.createTenant();
  const bytes = randomBytes(9);
  const { uploadUrl } = await readAnnounced(announce(bytes, {}, own));
  expect((await putMedia(uploadUrl, bytes)).status).toBe(200);
  await revokeApiKey(pipeline.database, own.keyId);
  await until(async () => (await putMedia(uploadUrl, bytes)).status === 401);
});

test.each([
  ['no trace', { traceId: null }, 400],
  ['a trace id that is none', { traceId: 'x' }, 400],
  ['a span id that is none', { observationId: 'x' }, 400],
  ['no hash', { sha256Hash: 'x' }, 400],
  ['no bytes', { contentLength: 0 }, 400],
  ['too many bytes', { contentLength: mediaBytesMax + 1 }, 413],
])('an announcement with %s is refused, with the reason', async (_, use, status) => {
  const answer = await announce(randomBytes(9), use);
  const { error } = (await answer.json()) as ErrorBody;
  expect([answer.status, error.details.length > 20]).toEqual([status, true]);
});

test('an announcement needs a key and events that are left, and behind a proxy the address is that of the proxy', async () => {
  const bytes = randomBytes(9);
  expect((await announce(bytes, {}, { apiKey: 'sk-lf-1' })).status).toBe(401);
  const full = await pipeline.createTenant({ billingState: 'inactive' });
  expect((await announce(bytes, {}, full)).status).toBe(402);
  const { uploadUrl } = await readAnnounced(announce(bytes, {}, tenant, { 'x-forwarded-proto': 'https' }));
  expect(new URL(uploadUrl).origin).toBe(pipeline.url.replace('http:', 'https:'));
});

test('the largest media are one message, which is stored', async () => {
  const own = await pipeline.createTenant();
  const bytes = randomBytes(mediaBytesMax);
  await upload(bytes, {}, own);
  const [row] = await pipeline.database.select().from(media).where(eq(media.spaceId, own.spaceId));
  expect(row?.data.equals(bytes)).toBe(true);
});

test('media that come before their span are on its event', async () => {
  const own = await pipeline.createTenant();
  const [trace, spanId] = [traceId(), '00f067aa0ba902b7'];
  await upload(randomBytes(9), { traceId: trace, observationId: spanId }, own);
  const body = toProtobuf({
    spans: [{ traceId: trace, spanId, attributes: { 'gen_ai.operation.name': 'chat' } }],
  });
  const headers = { 'content-type': 'application/x-protobuf', ...basicAuth(own.apiKey) };
  await fetch(`${pipeline.url}/api/public/otel/v1/traces`, {
    method: 'POST',
    headers,
    body: Buffer.from(body),
  });
  await untilDrained(pipeline);
  const rows = await pipeline.sql`SELECT id, trace_id FROM events WHERE space_id = ${own.spaceId}`;
  const uses =
    await pipeline.sql`SELECT event_id AS id, trace_id FROM media_uses WHERE space_id = ${own.spaceId}`;
  expect([...uses]).toEqual([...rows]);
});

test('an upload is durable when it is answered: a writer that starts later stores it', async () => {
  const own = await pipeline.createTenant();
  const bytes = randomBytes(1_000);
  await pipeline.writer.stop('SIGTERM');
  const { uploadUrl } = await readAnnounced(announce(bytes, {}, own));
  expect((await putMedia(uploadUrl, bytes)).status).toBe(200);
  expect(await pipeline.database.$count(media, eq(media.spaceId, own.spaceId))).toBe(0);
  pipeline.writer = await pipeline.start('writer');
  await untilDrained(pipeline);
  expect(await pipeline.database.$count(media, eq(media.spaceId, own.spaceId))).toBe(1);
});
