import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { createSpace } from '../../../store/accounts/spaces.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { alertDeliveries, alertEvents, alertRules, alertTargets } from '../../../store/db/schema.ts';
import { openDashboard, type TestDashboard, type TestSpace } from '../../../test/support/dashboard.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { until } from '../../../test/support/wait.ts';
import { deliverDue, type SendAlert } from './deliver.ts';
import { claimRule, evaluateNext } from './evaluate-rules.ts';
import { measure } from './evaluation.ts';
import { deliveriesOfSpaceMax, slowEvaluationMs, slowEvaluationRest, testsPerMinuteMax } from './limits.ts';
import { readSeries } from './read-series.ts';
import type { AlertFilter } from './rule.ts';
import { SlowSpaces } from './slow-spaces.ts';
import { signWebhook } from './webhook.ts';

/** Two dashboard APIs on one database, with an HTTP receiver and a mail server on this machine. */

const resources = new AsyncDisposableStack();
let dashboard: TestDashboard;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let mails: Awaited<ReturnType<typeof openMailServer>>;
beforeAll(async () => {
  receiver = resources.use(await openReceiver());
  mails = resources.use(await openMailServer());
  const variables = {
    ALERT_TARGETS_PRIVATE: 'true',
    SMTP_URL: `smtp://127.0.0.1:${mails.port}?ignoreTLS=true`,
    SMTP_FROM: 'weir@example.org',
  };
  dashboard = resources.use(await openDashboard({ variables }));
  resources.use(await openDashboard({ databaseUrl: dashboard.databaseUrl, variables }));
});
afterAll(() => resources.disposeAsync());

const minuteMs = 60_000;
/** Every fifth minute an error, and from 30 to 20 minutes ago in every event. */
async function storeErrors({ spaceId }: TestSpace): Promise<void> {
  const nowMs = Date.now();
  const events = Array.from({ length: 60 }, (_, minutesAgo) => {
    const isError = minutesAgo >= 20 && minutesAgo < 30;
    const error = { code: 'E', message: 'failed' };
    return llmEvent({
      startTimeMs: nowMs - (minutesAgo + 2) * minuteMs,
      endTimeMs: nowMs - (minutesAgo + 2) * minuteMs + 10,
      status: isError ? { state: 'error', error } : { state: 'ok' },
    });
  });
  await insertParts(dashboard.database, [partOf(spaceId, events)]);
}

const errorRate = {
  name: 'Errors',
  kind: 'error_rate',
  bound: 20,
  windowMinutes: 5,
  holdMinutes: 2,
} as const;

/**
 * Lets the rules of a space begin an hour ago, as after an outage. An evaluation that began before is not
 * stored, and would leave its claim for a minute.
 */
const rewind = (spaceId: string) =>
  dashboard.sql`
    UPDATE alert_rules
    SET evaluated_until = evaluated_until - interval '1 hour', due_at = now(), claimed_until = NULL, version = version + 1
    WHERE space_id = ${spaceId}`;

async function openReceiver() {
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const answers: number[] = [];
  const server = createHttpServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    // The test ended during a delivery.
    if (body === undefined) return;
    received.push({ headers: request.headers, body });
    const status = answers.shift() ?? 200;
    response.writeHead(status, status === 302 ? { location: '/other' } : {}).end('x'.repeat(100_000));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    received,
    /** Statuses of the next responses; 200 after them. */
    answers,
    url: `http://127.0.0.1:${port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A mail server that accepts everything. */
async function openMailServer() {
  const messages: string[] = [];
  const server = createTcpServer((socket) => {
    let text = '';
    let isData = false;
    socket.on('error', () => {});
    socket.write('220 test\r\n');
    socket.on('data', (chunk) => {
      text += chunk.toString();
      for (let end = text.indexOf('\r\n'); end >= 0 && !isData; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        isData = line.toUpperCase() === 'DATA';
        socket.write(
          isData ? '354 go on\r\n' : line.toUpperCase().startsWith('QUIT') ? '221 bye\r\n' : '250 ok\r\n',
        );
      }
      if (!isData || !text.includes('\r\n.\r\n')) return;
      messages.push(text);
      text = '';
      isData = false;
      socket.write('250 stored\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    messages,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

test('two dashboard APIs catch up after an outage, and send each change once, signed, to each target', async () => {
  const space = await dashboard.addSpace();
  const { trpc } = space.client;
  await storeErrors(space);
  const preview = await trpc.alerts.preview.query(errorRate);
  expect(preview.fired).toHaveLength(1);
  const hook = await trpc.alerts.createTarget.mutate({
    name: 'Hook',
    kind: 'webhook',
    address: receiver.url,
  });
  const slack = await trpc.alerts.createTarget.mutate({ name: 'Chat', kind: 'slack', address: receiver.url });
  const mail = await trpc.alerts.createTarget.mutate({
    name: 'Mail',
    kind: 'email',
    address: 'ops@example.org',
  });
  expect([slack.secret, mail.secret]).toEqual([null, null]);
  const targetIds = [hook.id, slack.id, mail.id];
  await trpc.alerts.save.mutate({ ...errorRate, targetIds });
  await rewind(space.spaceId);
  await until(async () => {
    const history = await trpc.alerts.history.query();
    return (
      history.length >= 2 &&
      history.every(({ deliveries }) => deliveries.every(({ state }) => state === 'delivered'))
    );
  });
  const history = await trpc.alerts.history.query();
  expect(history.map(({ change }) => change)).toEqual(['resolved', 'fired']);
  expect(history[1]?.text).toMatch(
    /^Firing: Errors – error rate \d+%, threshold: above 20% \(5 minutes\), in space /,
  );
  const [rule] = await trpc.alerts.list.query();
  expect(rule).toMatchObject({ phase: 'ok', value: 0 });

  const hooks = receiver.received.filter(({ headers }) => headers['weir-signature'] !== undefined);
  expect(hooks.map(({ body }) => JSON.parse(body).change).toSorted()).toEqual(['fired', 'resolved']);
  for (const { headers, body } of hooks) {
    const timestamp = String(headers['weir-timestamp']);
    expect(headers['weir-signature']).toBe(signWebhook(hook.secret ?? '', timestamp, body));
    expect(headers['weir-alert-id']).toBe(JSON.parse(body).id);
  }
  expect(
    receiver.received.filter(({ body }) => Object.keys(JSON.parse(body)).join() === 'text'),
  ).toHaveLength(2);
  expect(mails.messages).toHaveLength(2);
  expect(mails.messages.join()).toContain('To: ops@example.org');
  const shown = JSON.stringify(await trpc.alerts.targets.query());
  expect(shown).not.toContain('/hook');
  expect(shown).not.toContain(hook.secret);
});

test('an alert by an additional property reads its events, and measures what the statistics would', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const { trpc } = space.client;
  const endMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const startMs = endMs - 60 * minuteMs;
  const events = Array.from({ length: 60 }, (_, minute) => {
    const isStaging = minute % 2 === 0;
    const error = { code: 'E', message: 'failed' };
    const usage = { inputTokens: minute, outputTokens: 2 * minute, totalTokens: 3 * minute };
    return llmEvent({
      startTimeMs: startMs + minute * minuteMs,
      endTimeMs: startMs + minute * minuteMs + 10 * (minute + 1),
      durationMs: 10 * (minute + 1),
      properties: { llm: { model: isStaging ? 'priced' : 'other', input: {}, output: {}, usage } },
      additionalProperties: { environment: isStaging ? 'staging' : 'production', team: 'a' },
      status: isStaging && minute >= 30 && minute < 40 ? { state: 'error', error } : { state: 'ok' },
    });
  });
  await insertParts(dashboard.database, [partOf(spaceId, events)]);
  await trpc.prices.set.mutate({ model: 'priced', input: '1000', output: '2000' });

  const time = { startMs, endMs, stepMs: 5 * minuteMs };
  for (const kind of ['error_rate', 'p95', 'cost', 'tokens', 'events'] as const) {
    const measuredBy = async (filter: AlertFilter) => {
      const { buckets } = await readSeries(dashboard.database, spaceId, { rule: { kind, filter }, ...time });
      return buckets.map((bucket) => measure({ kind }, [bucket]));
    };
    const ofAll = await measuredBy({});
    expect(ofAll.some(({ value }) => value !== null && value > 0)).toBe(true);
    expect(await measuredBy({ attributeKey: 'team', attributeValue: 'a' })).toEqual(ofAll);
    expect(await measuredBy({ attributeKey: 'environment', attributeValue: 'staging' })).toEqual(
      await measuredBy({ name: 'priced', attributeKey: 'team', attributeValue: 'a' }),
    );
    expect(await measuredBy({ attributeKey: 'environment', attributeValue: 'staging' })).toEqual(
      await measuredBy({ name: 'priced' }),
    );
  }

  const by = (attributeValue: string) => ({
    ...errorRate,
    filter: { attributeKey: 'environment', attributeValue },
  });
  expect((await trpc.alerts.preview.query(by('staging'))).fired).toHaveLength(1);
  expect((await trpc.alerts.preview.query(by('production'))).fired).toEqual([]);
  await trpc.alerts.save.mutate({ ...by('staging'), holdMinutes: 0 });
  await rewind(spaceId);
  await until(async () => (await trpc.alerts.history.query()).length >= 2);
  const texts = (await trpc.alerts.history.query()).map(({ text }) => text);
  expect(texts.at(-1)).toContain('(5 minutes), environment = staging, in space ');

  for (const wrong of [
    { ...by('staging'), windowMinutes: 120 as const },
    { ...errorRate, filter: { attributeKey: 'environment' } },
  ])
    await expect(trpc.alerts.save.mutate(wrong)).rejects.toMatchObject({ data: { code: 'BAD_REQUEST' } });
});

test('an alert whose target was removed is listed, saved and sent without it', async () => {
  const space = await dashboard.addSpace();
  const { trpc } = space.client;
  await storeErrors(space);
  const addTarget = (name: string) =>
    trpc.alerts.createTarget.mutate({ name, kind: 'slack', address: receiver.url });
  const [removed, kept] = [await addTarget('removed'), await addTarget('kept')];
  const { id } = await trpc.alerts.save.mutate({ ...errorRate, targetIds: [removed.id, kept.id] });
  await trpc.alerts.removeTarget.mutate({ id: removed.id });
  const [listed] = await trpc.alerts.list.query();
  expect(listed?.targetIds).toEqual([kept.id]);
  await rewind(space.spaceId);
  await until(async () => (await trpc.alerts.history.query()).length >= 2);
  for (const { deliveries } of await trpc.alerts.history.query())
    expect(deliveries.map(({ targetId }) => targetId)).toEqual([kept.id]);
  await trpc.alerts.save.mutate({ ...errorRate, id, name: 'renamed', targetIds: listed?.targetIds ?? [] });
});

test('of several evaluations of the same windows one is stored', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  await storeErrors(space);
  await space.client.trpc.alerts.save.mutate(errorRate);
  // The loops of both dashboard APIs leave it alone.
  await dashboard.sql`UPDATE alert_rules SET due_at = 'infinity' WHERE space_id = ${spaceId}`;
  await dashboard.sql`
    UPDATE alert_rules SET evaluated_until = evaluated_until - interval '1 hour', claimed_until = NULL
    WHERE space_id = ${spaceId}`;
  // Claims that expire before their evaluations are stored.
  const evaluations = Array.from({ length: 6 }, async () => {
    await dashboard.sql`
      UPDATE alert_rules SET due_at = '2000-01-01', claimed_until = NULL
      WHERE space_id = ${spaceId} AND evaluated_until < now() - interval '30 minutes'`;
    return evaluateNext(dashboard.database, undefined, new SlowSpaces());
  });
  await Promise.all(evaluations);
  await until(async () => (await space.client.trpc.alerts.history.query()).length >= 2);
  const changes =
    await dashboard.sql`SELECT change FROM alert_events WHERE space_id = ${spaceId} ORDER BY at`;
  expect(changes.map(({ change }) => change)).toEqual(['fired', 'resolved']);
  // A claimed rule is not claimed again.
  await dashboard.sql`
    UPDATE alert_rules SET due_at = '2000-01-01', claimed_until = now() + interval '1 minute' WHERE space_id = ${spaceId}`;
  const claimed = await claimRule(dashboard.database);
  expect(claimed?.spaceId).not.toBe(spaceId);
});

test('a space whose evaluations take long or fail does not delay the alerts of others', async () => {
  // Without a dashboard API, whose loop would claim the rules.
  await using database = await createDatabase();
  await using pool = openPostgres(database.url, {
    applicationName: 'test',
    connectionsMax: 2,
    statementTimeoutMs: 10_000,
  });
  const own = openDatabase(pool);
  const [slow, other] = [await createSpace(own, 'slow'), await createSpace(own, 'other')];
  const rule = {
    ...errorRate,
    comparison: 'above',
    filter: {},
    targetIds: [],
    evaluatedUntil: new Date(),
  } as const;
  const addRule = (spaceId: string, dueAt: Date, claimedUntil: Date | null) =>
    own.insert(alertRules).values({ ...rule, targetIds: [], spaceId, id: randomUUID(), dueAt, claimedUntil });
  await addRule(slow.id, new Date(1_000), new Date(5_000));
  await addRule(slow.id, new Date(2_000), null);
  await addRule(other.id, new Date(3_000), null);
  let nowMs = 0;
  const spaces = new SlowSpaces(() => nowMs);
  spaces.note(slow.id, slowEvaluationMs);
  spaces.note(other.id, slowEvaluationMs - 1);
  expect(spaces.list()).toEqual([slow.id]);
  expect((await claimRule(own, spaces.list()))?.spaceId).toBe(other.id);
  expect(await claimRule(own, spaces.list())).toBeUndefined();
  nowMs = slowEvaluationRest * slowEvaluationMs;
  expect(spaces.list()).toEqual([]);
  // The rule whose evaluation failed comes after the other one.
  expect([(await claimRule(own))?.dueAt.getTime(), (await claimRule(own))?.dueAt.getTime()]).toEqual([
    2_000, 1_000,
  ]);
});

test('a space with many messages that wait does not delay those of others; tests are limited', async () => {
  await using database = await createDatabase();
  await using pool = openPostgres(database.url, {
    applicationName: 'test',
    connectionsMax: 4,
    statementTimeoutMs: 10_000,
  });
  const own = openDatabase(pool);
  const [many, few] = [await createSpace(own, 'many'), await createSpace(own, 'few')];
  const add = async (spaceId: string, count: number, attemptAt: Date) => {
    const [target, event] = [randomUUID(), randomUUID()];
    await own
      .insert(alertTargets)
      .values({ spaceId, id: target, name: 't', kind: 'webhook', address: 'https://x.example' });
    const message = {
      change: 'test',
      space: { id: spaceId, name: '' },
      rule: null,
      value: null,
      at: '',
      link: null,
    };
    await own.insert(alertEvents).values({ spaceId, id: event, change: 'test', at: new Date(), message });
    const rows = Array.from({ length: count }, () => ({
      spaceId,
      eventId: event,
      targetId: target,
      attemptAt,
    }));
    await own.insert(alertDeliveries).values(rows);
  };
  await add(many.id, 50, new Date(1_000));
  await add(few.id, 2, new Date(2_000));
  const sent: string[] = [];
  const send: SendAlert = async (target) => void sent.push(target.spaceId);
  await deliverDue(own, send);
  expect(sent.toSorted()).toEqual([...Array(deliveriesOfSpaceMax).fill(many.id), few.id, few.id].toSorted());
  while ((await deliverDue(own, send)) > 0) expect(sent.length).toBeLessThanOrEqual(52);
  expect(sent).toHaveLength(52);

  const space = await dashboard.addSpace();
  const { trpc } = space.client;
  const target = await trpc.alerts.createTarget.mutate({
    name: 'Mail',
    kind: 'email',
    address: 'tests@example.org',
  });
  for (let test = 0; test < testsPerMinuteMax; test++) await trpc.alerts.testTarget.mutate({ id: target.id });
  // Whatever the time that the tests before took.
  await dashboard.sql`UPDATE alert_events SET created_at = now() WHERE space_id = ${space.spaceId}`;
  await expect(trpc.alerts.testTarget.mutate({ id: target.id })).rejects.toMatchObject({
    data: { code: 'TOO_MANY_REQUESTS' },
  });
});

test('a delivery that fails is sent again with the same id; a redirect is not followed; a muted rule sends nothing', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const { trpc } = space.client;
  const { id } = await trpc.alerts.createTarget.mutate({
    name: 'Hook',
    kind: 'webhook',
    address: receiver.url,
  });
  const before = receiver.received.length;
  receiver.answers.push(500, 302);
  await trpc.alerts.testTarget.mutate({ id });
  const attempts = () => receiver.received.length - before;
  const again = () =>
    dashboard.sql`
      UPDATE alert_deliveries SET attempt_at = now() WHERE space_id = ${spaceId} AND failure IS NOT NULL AND attempts = ${attempts()}`;
  await until(async () => {
    await again();
    return attempts() === 3;
  });
  await until(async () => (await trpc.alerts.history.query())[0]?.deliveries[0]?.state === 'delivered');
  const sent = receiver.received.slice(before);
  expect(new Set(sent.map(({ headers }) => headers['weir-alert-id'])).size).toBe(1);

  await storeErrors(space);
  const saved = await trpc.alerts.save.mutate({ ...errorRate, targetIds: [id] });
  await trpc.alerts.mute.mutate({ ...saved, until: '2100-01-01T00:00:00.000Z' });
  await rewind(spaceId);
  await until(async () => (await trpc.alerts.history.query()).length === 3);
  expect((await trpc.alerts.history.query()).slice(0, 2).map(({ deliveries }) => deliveries)).toEqual([
    [],
    [],
  ]);
  expect(attempts()).toBe(3);
});

test('quota and quarantine are alerts', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const { trpc } = space.client;
  await dashboard.sql`UPDATE spaces SET monthly_event_limit = 100 WHERE id = ${spaceId}`;
  const month = new Date().toISOString().slice(0, 7);
  await dashboard.sql`INSERT INTO usage_months (space_id, month, events) VALUES (${spaceId}, ${month}, 80)`;
  await dashboard.sql`
    INSERT INTO quarantine (space_id, received_at, event_count, sqlstate, message, part)
    VALUES (${spaceId}, now(), 1, '23514', 'refused', '\\x00'::bytea)`;
  const state = { windowMinutes: 5, holdMinutes: 0 } as const;
  await trpc.alerts.save.mutate({ name: 'Quota 80', kind: 'quota', bound: 80, ...state });
  await trpc.alerts.save.mutate({ name: 'Quota 100', kind: 'quota', bound: 100, ...state });
  await trpc.alerts.save.mutate({ name: 'Quarantine', kind: 'quarantine', bound: 0, ...state });
  // A new one has its value at once.
  const values = (await trpc.alerts.list.query()).map(({ name, value }) => [name, value]);
  expect(Object.fromEntries(values)).toEqual({ 'Quota 80': 80, 'Quota 100': 80, Quarantine: 1 });
  await rewind(spaceId);
  await until(async () => (await trpc.alerts.history.query()).length === 2);
  const texts = (await trpc.alerts.history.query()).map(({ text }) => text.split(' – ')[0]).toSorted();
  expect(texts).toEqual(['Firing: Quarantine', 'Firing: Quota 80']);
});

test('without ALERT_TARGETS_PRIVATE only public HTTPS addresses are called, also when a name resolves to another', async () => {
  await using strict = await openDashboard();
  const { client } = await strict.addSpace();
  const { trpc } = client;
  const add = (address: string) => trpc.alerts.createTarget.mutate({ name: 't', kind: 'webhook', address });
  for (const address of [receiver.url, 'ftp://example.org', 'nothing'])
    await expect(add(address)).rejects.toMatchObject({ data: { code: 'BAD_REQUEST' } });
  const before = receiver.received.length;
  const port = new URL(receiver.url).port;
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433'])
    await trpc.alerts.testTarget.mutate({ id: (await add(`https://${host}:${port}/`)).id });
  const outcomes = async () =>
    (await trpc.alerts.history.query()).flatMap(({ deliveries }) =>
      deliveries.map(({ state, failure }) => [state, failure]),
    );
  await until(async () => (await outcomes()).every(([state]) => state === 'failed'));
  expect(await outcomes()).toEqual(
    Array.from({ length: 5 }, () => ['failed', 'The address is not on the public internet.']),
  );
  expect(receiver.received.length).toBe(before);
  const mail = await trpc.alerts.createTarget.mutate({ name: 'm', kind: 'email', address: 'a@example.org' });
  await trpc.alerts.testTarget.mutate({ id: mail.id });
  await until(async () => (await outcomes()).some(([, failure]) => failure === 'SMTP_URL is not set.'));
  expect((await trpc.alerts.targets.query()).hasMail).toBe(false);
});
