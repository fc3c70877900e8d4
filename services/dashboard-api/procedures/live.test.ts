import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { altered } from '../../../harness/fixtures/altered.ts';
import { llmEvent, someEvents } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { type SpanInit, toProtobuf } from '../../../harness/fixtures/spans.ts';
import { drainTimeoutMessage } from '../../../platform/http/listener.ts';
import { formatPosition, parsePosition } from '../../../store/tail/position.ts';
import { storeNodes } from '../../../store/traces/store-nodes.ts';
import { TraceResolver } from '../../../store/traces/trace-resolver.ts';
import {
  openClient,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { type LiveTail, openTail } from '../../../test/support/live-tail.ts';
import { openPostgresProxy } from '../../../test/support/postgres-proxy.ts';
import { openSocket } from '../../../test/support/protocols/raw-http.ts';
import { until } from '../../../test/support/wait.ts';
import { createSpanReaders } from '../../ingest/otlp/batch/span-readers.ts';
import { eventIdOf } from '../../ingest/otlp/mapping/ids.ts';
import { unlimited } from '../../ingest/read/batch-reader.ts';
import {
  liveMessageBytesMax,
  liveMessageEventsMax,
  liveOpeningMax,
  liveStreamLimits,
} from '../live/limits.ts';
import type { LiveMessage } from '../live/live-message.ts';

let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const idsOf = (events: readonly Record<string, unknown>[]) => events.map(({ id }) => String(id));
const store = (spaceId: string, events: readonly Record<string, unknown>[]) =>
  insertParts(dashboard.database, [partOf(spaceId, events)]);

test('a stream shows events stored after its beginning, in order, with a position', async () => {
  await store(space.spaceId, someEvents(2));
  using tail = openTail(dashboard.url, space.client.cookie);
  await tail.ready();
  expect(tail.messages[0]?.data).toEqual({ type: 'status', isDelayed: false });
  const events = someEvents(450);
  await store(space.spaceId, events);
  await until(() => tail.eventIds().length === 450);
  expect(tail.eventIds()).toEqual(idsOf(events));
  for (const { data } of tail.messages) {
    if (data.type !== 'events') continue;
    expect(data.events.length).toBeLessThanOrEqual(liveMessageEventsMax);
    expect(JSON.stringify(data).length).toBeLessThan(1.1 * liveMessageBytesMax);
  }
  // All start at the same time: two of the first three may be those from before the stream.
  const listed = await space.client.trpc.events.list.query({ limit: 3 });
  const sent = tail.messages.flatMap(({ data }) => (data.type === 'events' ? data.events : []));
  expect(sent).toContainEqual(listed.events.find(({ id }) => tail.eventIds().includes(id)));
});

test('a stream with changes says which events later spans have changed or removed, also after it resumes', async () => {
  const own = await dashboard.addSpace();
  const traceId = randomUUID().replaceAll('-', '');
  const idOf = (number: number) => String(number).padStart(16, '0');
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' };
  const send = async (span: SpanInit) => {
    const { parts, nodes } = createSpanReaders('weir', unlimited).otlp(
      toProtobuf({ spans: [{ traceId, ...span }] }),
    );
    const sent = parts.map(({ body }) => partOf(own.spaceId, JSON.parse(body.toString()).events));
    if (sent.length > 0) await insertParts(dashboard.database, sent);
    const stored = nodes.map((json) => ({ json, receivedAtMs: BigInt(Date.now()) }));
    await storeNodes(dashboard.database, own.spaceId, { sent: stored });
    await new TraceResolver(dashboard.database).run();
  };
  const { cookie } = own.client;
  using all = openTail(dashboard.url, cookie, { changes: true });
  using ofAgent = openTail(dashboard.url, cookie, { changes: true, agentId: 'planner' });
  using plain = openTail(dashboard.url, cookie);
  await Promise.all([all.ready(), ofAgent.ready(), plain.ready()]);
  const [outerId, innerId] = [2, 3].map((number) => eventIdOf(traceId, idOf(number)));
  await send({ spanId: idOf(2), parentSpanId: idOf(1), attributes: chat });
  await until(() => all.eventIds().includes(outerId ?? ''));
  const resumed = all.messages.at(-1)?.id;
  await send({ spanId: idOf(3), parentSpanId: idOf(2), attributes: chat });
  // A stream that reads it later gets it with its agent.
  await until(() => all.eventIds().includes(innerId ?? ''));
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' };
  await send({ spanId: idOf(1), attributes: agent });
  const changesOf = (tail: LiveTail) =>
    tail.messages.flatMap(({ data }) => (data.type === 'changed' ? data : []));
  const isDone = (tail: LiveTail) =>
    changesOf(tail).some(({ events }) => events.some(({ agentId }) => agentId === 'planner'));
  await until(() => isDone(all) && isDone(ofAgent));
  expect(changesOf(all).flatMap(({ removed }) => removed)).toContain(outerId);
  // It matches the filter since the change.
  expect(ofAgent.eventIds()).toEqual([]);
  expect(changesOf(ofAgent).at(-1)?.events).toMatchObject([{ id: innerId, agentId: 'planner' }]);
  using later = openTail(dashboard.url, cookie, { changes: true, lastEventId: resumed ?? '' });
  await until(() => isDone(later));
  expect(changesOf(later).flatMap(({ removed }) => removed)).toEqual([outerId]);
  expect(changesOf(plain)).toEqual([]);
});

test('a sealed filter is read by Weir alone, selects as the plain one, and belongs to its space', async () => {
  const [own, foreign] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const { trpc, cookie } = own.client;
  const userId = 'person@example.org';
  const { sealed } = await trpc.events.sealFilter.query({ userId, text: 'secret' });
  expect(Buffer.from(sealed, 'base64url').includes('person')).toBe(false);
  const { sealed: ofUser } = await trpc.events.sealFilter.query({ userId });
  using tail = openTail(dashboard.url, cookie, { sealed: ofUser });
  await tail.ready();
  const [match, other] = [llmEvent({ context: { userId } }), llmEvent({ context: { userId: 'other' } })];
  await store(own.spaceId, [other, match]);
  await until(() => tail.eventIds().length > 0);
  expect(tail.eventIds()).toEqual(idsOf([match]));
  // It resumes after the last message, as with a plain filter.
  const lastEventId = tail.messages.at(-1)?.id ?? '';
  tail[Symbol.dispose]();
  const later = llmEvent({ context: { userId } });
  await store(own.spaceId, [later]);
  using resumed = openTail(dashboard.url, cookie, { sealed: ofUser, lastEventId });
  await until(() => resumed.eventIds().length > 0);
  expect(resumed.eventIds()).toEqual(idsOf([later]));
  for (const [client, text] of [
    [foreign.client, ofUser],
    [own.client, altered(ofUser)],
    [own.client, 'x'],
  ] as const) {
    using refused = openTail(dashboard.url, client.cookie, { sealed: text });
    await until(() => refused.failure !== undefined);
    expect(refused.failure).toMatchObject({ data: { code: 'BAD_REQUEST' } });
  }
});

test('each stream gets the events of its own filter, also one that joins later', async () => {
  const other = await dashboard.addSpace();
  const { cookie } = other.client;
  using all = openTail(dashboard.url, cookie);
  using errors = openTail(dashboard.url, cookie, { state: 'error', userId: 'u' });
  await Promise.all([all.ready(), errors.ready()]);
  const failed = (userId: string) =>
    llmEvent({ status: { state: 'error', error: { code: 'c' } }, context: { userId } });
  const first = [failed('u'), failed('v'), llmEvent({ context: { userId: 'u' } })];
  await store(other.spaceId, first);
  await until(() => all.eventIds().length === 3);
  using users = openTail(dashboard.url, cookie, { userId: 'u', lastEventId: all.messages[0]?.id });
  await users.ready();
  const second = [failed('u'), failed('w')];
  await store(other.spaceId, second);
  await until(() => all.eventIds().length === 5 && users.eventIds().length === 3);
  expect(all.eventIds()).toEqual(idsOf([...first, ...second]));
  expect(users.eventIds()).toEqual(
    idsOf([first[0], first[2], second[0]].flatMap((event) => (event === undefined ? [] : [event]))),
  );
  await until(() => errors.eventIds().length === 2);
  expect(errors.eventIds()).toEqual(
    idsOf([first[0], second[0]].flatMap((event) => (event === undefined ? [] : [event]))),
  );
});

test('a stream resumes after any of its messages, and `since` reads the same', async () => {
  const other = await dashboard.addSpace();
  using whole = openTail(dashboard.url, other.client.cookie);
  await whole.ready();
  const events = someEvents(500);
  await store(other.spaceId, events.slice(0, 300));
  await until(() => whole.eventIds().length === 300);
  for (const { id, data } of whole.messages) {
    const before = whole.messages
      .slice(0, whole.messages.findIndex((message) => message.id === id && message.data === data) + 1)
      .flatMap((message) => (message.data.type === 'events' ? message.data.events : [])).length;
    using resumed = openTail(dashboard.url, other.client.cookie, { lastEventId: id });
    await until(() => resumed.eventIds().length === 300 - before);
    expect(resumed.eventIds()).toEqual(idsOf(events.slice(before, 300)));
    const since: string[] = [];
    for (let after = id, isComplete = false; !isComplete; ) {
      const page = await other.client.trpc.live.since.query({ after, limit: 70 });
      expect(page.events.length).toBeLessThanOrEqual(70);
      since.push(...page.events.map((event) => event.id));
      ({ cursor: after, isComplete } = page);
    }
    expect(since).toEqual(idsOf(events.slice(before, 300)));
  }
  const { cursor } = await other.client.trpc.live.since.query();
  await store(other.spaceId, events.slice(300));
  const fresh = await other.client.trpc.live.since.query({ after: cursor, limit: 200 });
  expect(fresh.events.map(({ id }) => id)).toEqual(idsOf(events.slice(300)));
  await until(() => whole.eventIds().length === 500);
  expect(whole.eventIds()).toEqual(idsOf(events));
});

test('streams neither show nor wake for events of another space, and its positions are not usable', async () => {
  const [mine, theirs] = [await dashboard.addSpace(), await dashboard.addSpace()];
  using own = openTail(dashboard.url, mine.client.cookie);
  using their = openTail(dashboard.url, theirs.client.cookie);
  await Promise.all([own.ready(), their.ready()]);
  const start = their.messages[0]?.id;
  await store(theirs.spaceId, someEvents(3));
  await until(() => their.eventIds().length === 3);
  using intruder = openTail(dashboard.url, mine.client.cookie, { spaceId: theirs.spaceId });
  await until(() => intruder.failure !== undefined);
  expect(intruder.failure?.data).toMatchObject({ code: 'NOT_FOUND' });
  using stranger = openTail(dashboard.url, undefined, { spaceId: theirs.spaceId });
  await until(() => stranger.failure !== undefined);
  expect(stranger.failure?.data).toMatchObject({ code: 'UNAUTHORIZED' });
  const since = await mine.client.trpc.live.since.query({ after: start });
  expect(since.events).toEqual([]);
  await store(mine.spaceId, someEvents(1));
  await until(() => own.eventIds().length === 1);
});

test('a malformed position is refused; one that is too old or of another database is reported as a gap', async () => {
  const other = await dashboard.addSpace();
  const { cookie, trpc } = other.client;
  using bad = openTail(dashboard.url, cookie, { lastEventId: 'nothing' });
  await until(() => bad.failure !== undefined);
  expect(bad.failure?.data).toMatchObject({ code: 'BAD_REQUEST' });
  const first = await trpc.live.since.query();
  for (let i = 0; i < 3; i++) await store(other.spaceId, someEvents(1));
  await dashboard.sql`DELETE FROM space_commits WHERE space_id = ${other.spaceId} AND number < 3`;
  const edge = parsePosition((await trpc.live.since.query()).cursor);
  if (edge === undefined) throw new Error('the cursor is not a position');
  const foreign = formatPosition({ ...edge, segmentId: randomUUID() });
  const future = formatPosition({ ...edge, number: edge.number + 7 });
  for (const lastEventId of [first.cursor, foreign, future]) {
    using tail = openTail(dashboard.url, cookie, { lastEventId });
    await tail.ready();
    expect(tail.messages[0]?.data).toMatchObject({
      type: 'skipped',
      skipped: { events: null, after: lastEventId },
    });
    const since = await trpc.live.since.query({ after: lastEventId });
    expect(since).toMatchObject({ events: [], isComplete: true, hasGap: true });
    const event = llmEvent();
    await store(other.spaceId, [event]);
    await until(() => tail.eventIds().length === 1);
    expect(tail.eventIds()).toEqual([event.id]);
    expect((await trpc.live.since.query({ after: since.cursor })).events.map(({ id }) => id)).toEqual([
      event.id,
    ]);
  }
});

test('a stream ends when its session is revoked, and when the membership is', async () => {
  const [signedOut, removed] = [await dashboard.addSpace(), await dashboard.addSpace()];
  using first = openTail(dashboard.url, signedOut.client.cookie);
  using second = openTail(dashboard.url, removed.client.cookie);
  await Promise.all([first.ready(), second.ready()]);
  await signedOut.client.trpc.auth.signOut.mutate();
  await dashboard.sql`DELETE FROM memberships WHERE space_id = ${removed.spaceId}`;
  await until(() => first.failure !== undefined && second.failure !== undefined, 30_000);
  expect(first.failure?.data).toMatchObject({ code: 'UNAUTHORIZED' });
  expect(second.failure?.data).toMatchObject({ code: 'NOT_FOUND' });
  await store(signedOut.spaceId, someEvents(1));
  expect(first.eventIds()).toEqual([]);
});

test('the streams of a user are limited over all sessions, and a stream that ends frees its slot', async () => {
  const other = await dashboard.addSpace();
  const second = openClient(dashboard.url);
  await second.trpc.auth.signIn.mutate({ email: other.email, password: other.password });
  const cookies = [other.client.cookie, second.cookie];
  const path = `/trpc/live.tail?input=${encodeURIComponent(JSON.stringify({}))}`;
  const open = async (at: number) => {
    const socket = await openSocket(dashboard.url);
    const cookie = cookies[at % 2];
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${new URL(dashboard.url).host}\r\nCookie: ${cookie}\r\n\r\n`);
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes;
    });
    await until(() => text.includes('"status"') || text.includes('serialized-error'));
    return { socket, text: () => text };
  };
  const streams = await Promise.all(
    Array.from({ length: liveStreamLimits.ofHolderMax }, (_, at) => open(at)),
  );
  expect(streams.every(({ text }) => text().includes('"status"'))).toBe(true);
  const tooMany = await open(1);
  expect(tooMany.text()).toContain('You have 250 open live streams');
  expect(tooMany.text()).toContain('TOO_MANY_REQUESTS');
  tooMany.socket.destroy();
  streams.pop()?.socket.destroy();
  await until(async () => {
    const { socket, text } = await open(0);
    socket.destroy();
    return text().includes('"status"');
  });
  for (const { socket } of streams) {
    socket.destroy();
    await once(socket, 'close');
  }
});

test('streams get isDelayed while Postgres cannot be read, and miss nothing afterwards', async () => {
  await using postgres = await openPostgresProxy();
  const { databaseUrl } = dashboard;
  await using behind = await openDashboard({ databaseUrl, through: postgres.through });
  const other = await behind.addSpace();
  using tail = openTail(behind.url, other.client.cookie);
  await tail.ready();
  await postgres.proxy.cut();
  await until(() => tail.messages.some(({ data }) => data.type === 'status' && data.isDelayed), 30_000);
  const events = someEvents(3);
  await store(other.spaceId, events);
  await postgres.proxy.heal();
  await until(() => tail.eventIds().length === 3, 30_000);
  expect(tail.eventIds()).toEqual(idsOf(events));
  await until(() => {
    const last = tail.messages.findLast(({ data }) => data.type === 'status')?.data;
    return last?.type === 'status' && !last.isDelayed;
  });
});

test('a stream is valid server-sent events with pings; other requests are answered by tRPC as usual', async () => {
  const get = async (path: string, init: RequestInit = {}) =>
    fetch(`${dashboard.url}/trpc/live.tail${path}`, {
      ...init,
      headers: { cookie: space.client.cookie ?? '', ...init.headers },
    });
  const aborting = new AbortController();
  const response = await get('', { signal: aborting.signal });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('cache-control')).toContain('no-transform');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('event: ping')) break;
  }
  const [connected, status] = text.split(/\n{2,}/);
  expect(connected).toBe('event: connected\ndata: {"reconnectAfterInactivityMs":12000}');
  expect(status).toMatch(/^data: \{"type":"status","isDelayed":false\}\nid: [\w-]+$/);
  expect(text).toMatch(/\n\nevent: ping\ndata: \n\n+$/);
  aborting.abort();
  const failed = await (await get('?input=%7B')).text();
  expect(failed).toMatch(/event: serialized-error\ndata: \{.*"code":"BAD_REQUEST".*\}\n\n+$/);
  const unknown = await (await get(`?input=${encodeURIComponent('{"type":"none"}')}`)).text();
  expect(unknown).toMatch(/event: serialized-error\ndata: \{.*"code":"BAD_REQUEST".*\}\n\n+$/);
  // tRPC rejects these: a batch cannot contain a subscription, and only GET opens one.
  for (const answer of [await get('?batch=1&input=%7B%7D'), await get('', { method: 'POST' })]) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  }
});

test('requests for streams whose bodies never end hold up no other stream', async () => {
  const head = ['POST /trpc/live.tail HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
  const unfinished = [...head, 'Content-Length: 10', '', '{'].join('\r\n');
  using sockets = new DisposableStack();
  let answered = 0;
  for (let count = 0; count < 2 * liveOpeningMax; count++) {
    const socket = await openSocket(dashboard.url);
    sockets.defer(() => socket.destroy());
    socket.once('data', () => (answered += 1)).write(unfinished);
  }
  using tail = openTail(dashboard.url, space.client.cookie);
  await tail.ready();
  expect(answered).toBe(0);
});

test('on shutdown streams are closed at once, so that clients reconnect elsewhere', async () => {
  const stopping = await openDashboard({ databaseUrl: dashboard.databaseUrl });
  const { client } = await stopping.addSpace();
  using tail = openTail(stopping.url, client.cookie, { userId: randomUUID() });
  await tail.ready();
  await stopping[Symbol.asyncDispose]();
  expect(stopping.log()).not.toContain(drainTimeoutMessage);
});

test('a client that stops reading gets `skipped` when it reads again, and finds the events with `since`', async () => {
  const other = await dashboard.addSpace();
  const path = `/trpc/live.tail?input=${encodeURIComponent(JSON.stringify({}))}`;
  const socket = await openSocket(dashboard.url);
  let text = '';
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${new URL(dashboard.url).host}\r\nCookie: ${other.client.cookie}\r\n\r\n`,
  );
  await until(() => text.includes('"status"'));
  using reading = openTail(dashboard.url, other.client.cookie);
  await reading.ready();
  socket.pause();
  const sent: string[] = [];
  // More than sockets and the queue can buffer together.
  for (let i = 0; i < 40; i++) {
    const events = someEvents(500);
    await store(other.spaceId, events);
    sent.push(...idsOf(events));
  }
  // Other streams are not slowed down.
  await until(() => reading.eventIds().length === sent.length, 50_000);
  expect(reading.eventIds()).toEqual(sent);
  expect(text).not.toContain('"skipped"');
  socket.resume();
  await until(() => text.includes('"skipped"'), 50_000);
  const last = llmEvent();
  await store(other.spaceId, [last]);
  await until(() => text.includes(String(last.id)), 50_000);
  socket.destroy();
  const messages = [...text.matchAll(/^data: (\{"type":.*)$/gm)].map(
    ([, data = '']): LiveMessage => JSON.parse(data),
  );
  const seen: string[] = [];
  for (const message of messages) {
    if (message.type === 'events') seen.push(...idsOf(message.events));
    if (message.type !== 'skipped') continue;
    const { until: end } = message.skipped;
    const before = seen.length;
    for (let { after } = message.skipped, isComplete = false; !isComplete; ) {
      const page = await other.client.trpc.live.since.query({ after, until: end, limit: 200 });
      seen.push(...idsOf(page.events));
      ({ cursor: after, isComplete } = page);
    }
    expect(seen.length - before).toBeLessThanOrEqual(message.skipped.events ?? 0);
  }
  expect(seen).toEqual([...sent, String(last.id)]);
});
