import { DrizzleQueryError } from 'drizzle-orm';
import { drizzle, type PostgresJsDatabase, type PostgresJsSession } from 'drizzle-orm/postgres-js';
import type { Sql } from './connect.ts';
import * as schema from './schema.ts';

/** Drizzle on a pool of connections. `$client` is the pool, for a statement that is prepared by hand. */
export type Database = PostgresJsDatabase<typeof schema> & { readonly $client: Sql };

type Session = Database['_']['session'];

/** A transaction of several statements. Services do not use them (ADR 0004, ADR 0014). */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** The connection of a transaction, for a statement that is prepared by hand. */
export function clientOf(transaction: Transaction): Pick<Sql, 'unsafe'> {
  // Drizzle types the session by its base class. A TransactionSql is a Sql without the methods that open
  // connections.
  return (transaction._.session as unknown as PostgresJsSession<Sql, never, never>).client;
}

/**
 * Wraps a pool in Drizzle. This changes the pool's parsers: afterwards, raw queries on it get dates as text.
 *
 * Queries of the hot paths call `.prepare(name)`: postgres.js does not prepare others, which take two round
 * trips.
 *
 * A query that fails throws the driver's own error. Drizzle's error repeats the parameters in its message,
 * and those hold event content, API key hashes and e-mail addresses, none of which may reach a log.
 */
export function openDatabase(sql: Sql): Database {
  const database = drizzle(sql, { schema });
  throwDriverErrors(database._.session);
  return database;
}

/** A database whose queries run through `limit`. Transactions are not limited. */
export function limitQueries(
  database: Database,
  limit: <T>(query: () => Promise<T>) => Promise<T>,
): Database {
  // Drizzle's builders take the session of the object that they are called on.
  const session: Session = Object.create(database._.session);
  session.prepareQuery = (...parameters) => {
    const query = database._.session.prepareQuery(...parameters) as ReturnType<
      typeof session.prepareQuery<never>
    >;
    const execute = query.execute.bind(query);
    query.execute = (values) => limit(() => execute(values));
    return query;
  };
  return Object.assign(Object.create(database), { session, _: { ...database._, session } });
}

function throwDriverErrors(session: Session): void {
  const prepareQuery = session.prepareQuery.bind(session);
  const transaction = session.transaction.bind(session);
  session.prepareQuery = (...parameters) => {
    // `prepareQuery` is generic in its result, which is irrelevant here.
    const query = prepareQuery(...parameters) as ReturnType<typeof prepareQuery<never>>;
    const execute = query.execute.bind(query);
    query.execute = (values) => execute(values).catch(throwCause);
    return query;
  };
  session.transaction = (run, config) => transaction(run, config).catch(throwCause);
}

function throwCause(error: unknown): never {
  throw error instanceof DrizzleQueryError ? (error.cause ?? error) : error;
}
