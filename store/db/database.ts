import { DrizzleQueryError, type SQL } from 'drizzle-orm';
import { drizzle, type PostgresJsDatabase, type PostgresJsSession } from 'drizzle-orm/postgres-js';
import type { Sql } from './connect.ts';
import * as schema from './schema.ts';

/** Drizzle on a pool. `$client` is the pool, for a statement that is prepared by hand. */
export type Database = PostgresJsDatabase<typeof schema> & { readonly $client: Sql };

type Session = Database['_']['session'];

/** A transaction of several statements. Services do not use them (ADR 0004, ADR 0014). */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** The connection, for a statement that is prepared by hand. */
export function clientOf(transaction: Transaction): Pick<Sql, 'unsafe'> {
  // Drizzle types the session by its base class. A TransactionSql is a Sql that opens no connections.
  return (transaction._.session as unknown as PostgresJsSession<Sql, never, never>).client;
}

/**
 * Changes the pool's parsers: raw queries then get dates as text. Hot paths call `.prepare(name)`:
 * postgres.js takes two round trips for other queries. A failed query throws the driver's error: Drizzle's
 * repeats the parameters, which hold event content, key hashes and addresses that no log may have.
 */
export function openDatabase(sql: Sql): Database {
  const database = drizzle(sql, { schema });
  throwDriverErrors(database._.session);
  return database;
}

/** Queries run through `limit`; transactions are not limited. */
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

/** The row of a statement that always returns one, such as of settings. */
export async function readOne<Row extends Record<string, unknown>>(
  database: Database | Transaction,
  statement: SQL,
): Promise<Row> {
  const [row] = await database.execute<Row>(statement);
  if (row === undefined) throw new Error('SELECT returned no row');
  // Drizzle cannot compute a generic row's type.
  return row as Row;
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
