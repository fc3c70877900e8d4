import { argon2Sync, randomBytes, randomUUID } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { createTRPCClient, httpLink } from '@trpc/client';
import { projectionVersion } from '../../event/projection.ts';
import { anyTerm, inSpace } from '../../event/terms.ts';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import { setRole } from '../../store/accounts/memberships.ts';
import type { Role } from '../../store/accounts/role.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { users } from '../../store/db/schema.ts';
import { openService } from './service.ts';
import { createDatabase } from './test-servers.ts';

export interface TestDashboard extends AsyncDisposable {
  url: string;
  databaseUrl: string;
  /** Direct access to its database, for the set-up of tests. */
  sql: Sql;
  database: Database;
  /** Everything it has logged so far. */
  log(): string;
  /** Creates a space with one member, and a client that is signed in as that member. */
  addSpace(options?: { role?: Role }): Promise<TestSpace>;
  /** Creates a user as `addSpace` does, who is a member of another space as well. */
  addMember(space: Pick<TestSpace, 'spaceId'>, role: Role): Promise<TestMember>;
}

/** A member of another user's space. `spaceId` is their own. */
export interface TestMember extends TestSpace {
  userId: string;
}

export interface TestSpace {
  spaceId: string;
  email: string;
  password: string;
  client: TestClient;
}

/** The dashboard configuration of tests. */
export const dashboardPepper = 'pepper-of-the-tests-only';
/**
 * Passkeys belong to this address. The tests' authenticator is told it, and so none of its pages is needed.
 */
export const dashboardPublicUrl = 'http://localhost:8081';
export const newSpaceMonthlyEvents = 1_000;

/** Starts the dashboard API as main.ts does, with its Postgres role, on a free port, with a new database. */
export async function openDashboard(
  options: {
    through?: (databaseUrl: string) => string;
    /** An existing database to use instead of a new one. */
    databaseUrl?: string;
    variables?: Record<string, string>;
  } = {},
): Promise<TestDashboard> {
  const resources = new AsyncDisposableStack();
  const databaseUrl = options.databaseUrl ?? resources.use(await createDatabase()).url;
  const openPool = () =>
    resources.use(
      openPostgres(databaseUrl, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 10_000 }),
    );
  const sql = openPool();
  const database = openDatabase(openPool());
  const service = resources.use(
    await openService('dashboard-api', {
      LOG_LEVEL: 'info',
      DATABASE_URL: options.through?.(databaseUrl) ?? databaseUrl,
      API_KEY_PEPPER: dashboardPepper,
      NEW_SPACE_MONTHLY_EVENTS: String(newSpaceMonthlyEvents),
      DASHBOARD_PORT: '0',
      DASHBOARD_PUBLIC_URL: dashboardPublicUrl,
      ...options.variables,
    }),
  );
  const url = service.ready.url ?? '';
  return {
    url,
    databaseUrl,
    sql,
    database,
    log: service.log,
    addSpace: (space) => addSpace({ url, database }, space?.role ?? 'owner'),
    addMember: ({ spaceId }, role) => addMember({ url, database }, spaceId, role),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function addSpace(
  { url, database }: Pick<TestDashboard, 'url' | 'database'>,
  role: Role,
): Promise<TestSpace> {
  const { id: spaceId } = await createSpace(database, `space ${randomUUID()}`);
  const email = `${randomUUID()}@example.org`;
  const password = randomUUID();
  await addUser(database, { email, password, spaceId, role });
  const client = openClient(url);
  await client.trpc.auth.signIn.mutate({ email, password });
  return { spaceId, email, password, client };
}

async function addMember(
  { url, database }: Pick<TestDashboard, 'url' | 'database'>,
  spaceId: string,
  role: Role,
): Promise<TestMember> {
  const member = await addSpace({ url, database }, 'owner');
  const { user } = await member.client.trpc.me.query();
  await setRole(database, spaceId, { userId: user.id, role });
  return { ...member, userId: user.id };
}

/**
 * Adds a user whose password hash has the lowest cost: with the usual cost, creating and signing in a user
 * takes 60 ms of CPU, and tests add hundreds. Verification reads the cost from the hash
 * (store/accounts/password.ts).
 */
export async function addUser(
  database: Database,
  user: { email: string; password: string; spaceId: string; role: Role },
): Promise<void> {
  const [nonce, cost] = [randomBytes(16), { memory: 8, passes: 1, parallelism: 1 }];
  const tag = argon2Sync('argon2id', { message: user.password, nonce, tagLength: 32, ...cost });
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  const passwordHash = `$argon2id$v=19$m=8,t=1,p=1$${salt}$${hash}`;
  const [row] = await database
    .insert(users)
    .values({ email: user.email, passwordHash, emailVerifiedAt: new Date() })
    .returning({ id: users.id });
  if (row === undefined) throw new Error('INSERT returned no user');
  await setRole(database, user.spaceId, { userId: row.id, role: user.role });
}

/** A client that keeps its session cookie, as a browser does. */
export interface TestClient {
  trpc: ReturnType<typeof createTRPCClient<AppRouter>>;
  /** The last Set-Cookie that it received. */
  lastSetCookie: string | undefined;
  /** The `Cookie` header that it sends. */
  cookie: string | undefined;
}

/** A client without a session; `headers` are added to each of its requests. */
export function openClient(url: string, headers: Record<string, string> = {}): TestClient {
  const link = httpLink({
    url: `${url}/trpc`,
    headers: () => ({ ...headers, ...(client.cookie === undefined ? {} : { cookie: client.cookie }) }),
    fetch: async (address, init) => {
      // tRPC's body type is wider than that of fetch; it only sends text.
      const response = await fetch(address, init as RequestInit);
      const [setCookie] = response.headers.getSetCookie();
      if (setCookie !== undefined) {
        client.lastSetCookie = setCookie;
        client.cookie = setCookie.split(';')[0];
      }
      return response;
    },
  });
  const client: TestClient = {
    trpc: createTRPCClient<AppRouter>({ links: [link] }),
    lastSetCookie: undefined,
    cookie: undefined,
  };
  return client;
}

/** The columns of a row of `events`; missing ones get a default. */
export interface TestEvent {
  id?: string;
  type?: 'llm' | 'tool';
  state?: 'ok' | 'error';
  name?: string;
  startTimeMs?: number;
  endTimeMs?: number;
  durationMs?: number;
  threadId?: string;
  traceId?: string;
  userId?: string;
  source?: string;
  agentId?: string;
  agentGroupId?: string;
  errorCode?: string;
  attributes?: Record<string, string | number>;
  inputPreview?: string;
  outputPreview?: string;
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  receivedAt?: Date;
  /** The event as it was sent. */
  text?: string;
}

/** Stores events as the writer does: one segment, and a row for each event. @returns their ids, in order. */
export async function addEvents(sql: Sql, spaceId: string, events: TestEvent[]): Promise<string[]> {
  const body = Buffer.from(`{"events":[${events.map(({ text }) => text ?? '{}').join(',')}]}`);
  const segmentId = randomUUID();
  const startTimesMs = events.map(({ startTimeMs = 1_000 }) => startTimeMs);
  await sql`
    INSERT INTO segments (space_id, id, api_key_id, received_at, event_count, raw_bytes, body, min_start_ms, max_start_ms, terms, projection)
    VALUES (${spaceId}, ${segmentId}, ${randomUUID()}, now(), ${events.length}, ${body.length}, ${zstdCompressSync(body)},
      ${Math.min(...startTimesMs)}, ${Math.max(...startTimesMs)}, ${`{${inSpace(spaceId, [anyTerm]).join()}}`}, ${projectionVersion})`;
  const rows = events.map((event, index) => ({
    space_id: spaceId,
    id: event.id ?? randomUUID(),
    segment_id: segmentId,
    segment_index: index,
    received_at: event.receivedAt ?? new Date('2026-01-02T03:04:05.678Z'),
    start_time_ms: event.startTimeMs ?? 1_000,
    end_time_ms: event.endTimeMs ?? (event.startTimeMs ?? 1_000) + 10,
    duration_ms: event.durationMs ?? 10,
    type: event.type ?? 'llm',
    state: event.state ?? 'ok',
    name: event.name ?? null,
    source: event.source ?? 'test',
    thread_id: event.threadId ?? null,
    trace_id: event.traceId ?? null,
    user_id: event.userId ?? null,
    agent_id: event.agentId ?? null,
    agent_group_id: event.agentGroupId ?? null,
    error_code: event.errorCode ?? null,
    attributes: event.attributes ?? null,
    input_preview: event.inputPreview ?? null,
    output_preview: event.outputPreview ?? null,
    input_tokens: event.inputTokens ?? null,
    output_tokens: event.outputTokens ?? null,
    total_tokens: event.totalTokens ?? null,
  }));
  await sql`INSERT INTO events ${sql(rows)}`;
  return rows.map(({ id }) => id);
}
