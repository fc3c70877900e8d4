import { setImmediate as nextTurn } from 'node:timers/promises';
import postgres from 'postgres';
import { ConfigError } from '../../platform/config/config-error.ts';
import { idleInTransactionMs } from './limits.ts';
import { correctionMark } from './preload/correction-mark.ts';
import { socketOpener } from './socket.ts';

/** Postgres cancels a store statement after this time, and its messages are delivered again. */
export const storeTimeoutMs = 30_000;

/** Grace after a statement's timeout: without a cancellation by then the server is unreachable. */
export const postgresGraceMs = 2_000;

export type Sql = postgres.Sql;

export interface PostgresOptions {
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Default: one. */
  connectionsMax?: number;
  /** Postgres cancels a longer statement. */
  statementTimeoutMs: number;
  /** Postgres cancels a longer wait for a lock. By default a statement waits for as long as it may run. */
  lockTimeoutMs?: number;
}

/**
 * Connections are opened on demand and reopened when they break. Closes with `await using`.
 * @throws Error when the driver is not corrected (preload/driver-correction.ts).
 */
export function openPostgres(url: string, options: PostgresOptions): Sql & AsyncDisposable {
  if (!(correctionMark in globalThis))
    throw new Error(
      'the Postgres driver is not corrected: start node with --import ./store/db/preload/preload.ts',
    );
  const { statementTimeoutMs } = options;
  const silenceMsMax = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + postgresGraceMs;
  const sql = postgres(url, {
    max: options.connectionsMax ?? 1,
    connect_timeout: 5,
    // In seconds. Short, because a crashed Postgres is back within two.
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, 1) * (0.5 + Math.random() / 2),
    idle_timeout: 0,
    max_lifetime: null,
    connection: {
      application_name: options.applicationName,
      statement_timeout: statementTimeoutMs,
      lock_timeout: options.lockTimeoutMs ?? 0,
      idle_in_transaction_session_timeout: idleInTransactionMs,
      // Overrides the role's and the database's setting: the queue deletes an event once its COMMIT returns.
      synchronous_commit: 'on',
    },
    onnotice: () => {},
    // The library would query array types on every new connection, whose break at that moment would end the
    // process. So arrays are passed as text (`{a,b}`).
    fetch_types: false,
    // An option of the library that its types lack.
    ...({ socket: socketOpener(silenceMsMax) } as object),
  });
  return Object.assign(sql, {
    begin: rejectWhenClosed(sql.begin),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }),
  });
}

/**
 * Lets a transaction whose connection was closed reject, and run nothing more. The driver would write a
 * ROLLBACK or the next statement to a socket that it no longer has, and this error would end the process; or,
 * when it has connected again, it would run the next statement outside of any transaction, or the COMMIT
 * within another one.
 */
function rejectWhenClosed(begin: Sql['begin']) {
  type Run<T> = (transaction: postgres.TransactionSql) => Promise<T>;
  return <T>(...given: [run: Run<T>] | [options: string, run: Run<T>]) => {
    const [options, run] = given.length === 2 ? given : (['', given[0]] as const);
    let closed: { error: unknown } | undefined;
    const assertOpen = () => {
      if (closed !== undefined) throw closed.error;
    };
    const ended = begin(options, async (transaction) => {
      const whileOpen = new Proxy(transaction, {
        apply(statement, self, values) {
          assertOpen();
          return Reflect.apply(statement, self, values);
        },
        get(statement, name) {
          assertOpen();
          return Reflect.get(statement, name);
        },
      });
      try {
        const result = await run(whileOpen);
        assertOpen();
        return result;
      } catch (error) {
        // When the connection was closed, `ended` rejects in this turn of the event loop.
        await nextTurn();
        if (closed !== undefined) return new Promise<never>(() => {});
        throw error;
      }
    });
    ended.catch((error) => {
      closed = { error };
    });
    return ended;
  };
}

/** What Postgres answers to a connection that it will never accept. Undefined for any other error. */
export function describeRejection(
  error: unknown,
  { host, username, database }: { host: string; username: string; database: string },
): string | undefined {
  const messages: Record<string, string> = {
    '28P01': `Postgres at ${host} rejects the password of ${username}`,
    '28000': `Postgres at ${host} rejects the user ${username}`,
    '3D000': `Postgres at ${host} has no database ${database}: create it first`,
  };
  const { code = '' } = (error ?? {}) as { code?: string };
  return messages[code];
}

/** @throws ConfigError when Postgres rejected the connection, and not while Postgres is away. */
export function throwIfRejected(error: unknown, { options }: Sql): void {
  const { host, port, user: username, database } = options;
  const addresses = host.map((one, at) => `${one}:${port[at]}`).join(',');
  const reason = describeRejection(error, { host: addresses, username, database });
  if (reason === undefined) return;
  throw new ConfigError(`${reason} (${error instanceof Error ? error.message : error}). Fix DATABASE_URL.`);
}
