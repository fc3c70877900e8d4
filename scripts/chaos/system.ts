import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openPostgres, type Sql } from '../../lib/db/connect.ts';
import { type Database, openDatabase } from '../../lib/db/database.ts';
import { migrateDatabase } from '../../lib/db/migrate.ts';
import { chooseFreePorts } from '../provision/ports.ts';
import { type Backing, startBacking } from './backing.ts';
import type { Part } from './part.ts';
import { startServices } from './services.ts';

/** What a system is made of. */
export interface SystemOptions {
  natsServers: 1 | 3;
  ingests: number;
  writers: number;
  /** The stream's `max_bytes`. */
  streamBytesMax?: number;
  /** `sync_interval` of nats-server other than ours, for controls. */
  natsSyncInterval?: string;
  /** Settings of Postgres other than ours, for controls. */
  postgresSettings?: Record<string, string>;
  /** More variables for the services. */
  env?: Record<string, string>;
  /** The services reach nats-server and Postgres through TCP proxies. */
  proxied: boolean;
  /**
   * The directory of a part's data, e.g. a mounted file system, for `nats-1` … and `postgres`; undefined for an ordinary
   * one. It must exist, and what it needs goes onto `resources`. A system with it is shared with no other fault.
   */
  storeOf?(part: string, resources: AsyncDisposableStack): Promise<string | undefined>;
}

export const usualSystem: SystemOptions = { natsServers: 1, ingests: 1, writers: 1, proxied: false };

/** Where a system finds what it is made from. */
export interface Surroundings {
  /** The nats-server program. */
  natsBinary: string;
  /** A directory, reachable for every user, in which the system makes its own. */
  parentDirectory: string;
  env: Record<string, string | undefined>;
  /** Leaves the directories, with the logs in them, for whoever wants to see what happened. */
  keep: boolean;
  log(line: string): void;
}

/** A whole Weir of the harness's own, in a directory and on ports of its own; every part is kept alive. */
export interface System extends AsyncDisposable, Backing {
  readonly options: SystemOptions;
  /** Every part, in the order of its start. */
  readonly parts: readonly Part[];
  /** `ingest-1`, `writer-1`, `nats-1`, `postgres`. @throws when there is none of that name. */
  part(name: string): Part;
  /** Of ingest-1, ingest-2, …; they stay the same across restarts. */
  readonly ingestUrls: readonly string[];
  /** Past every proxy. Its connections come back after a restart of Postgres; what was running fails. */
  readonly sql: Sql;
  readonly database: Database;
  readonly pepper: string;
  readonly directory: string;
  readonly log: (line: string) => void;
}

/** Starts a system, and resolves when it accepts events. */
export async function startSystem(
  options: SystemOptions,
  { parentDirectory, natsBinary, env, keep, log }: Surroundings,
): Promise<System> {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(parentDirectory, 'weir-chaos-'));
  if (!keep) stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'logs'));
  const context = {
    directory,
    options,
    natsBinary,
    env,
    log,
    stack,
    pepper: randomBytes(24).toString('hex'),
  };
  const backing = await startBacking(context);
  await migrateDatabase(backing.databaseUrl);
  const pool = () =>
    stack.use(
      openPostgres(backing.databaseUrl, {
        applicationName: 'chaos',
        connectionsMax: 2,
        statementTimeoutMs: 0,
      }),
    );
  const [sql, database] = [pool(), openDatabase(pool())];
  const ports = await chooseFreePorts(options.ingests);
  const services = await startServices(context, backing, ports);
  const parts = [...backing.parts, ...services];
  const owned = stack.move();
  return {
    ...backing,
    options,
    parts,
    part(name) {
      const found = parts.find((one) => one.name === name);
      if (found === undefined) throw new Error(`there is no part ${name}`);
      return found;
    },
    ingestUrls: ports.map((port) => `http://127.0.0.1:${port}`),
    sql,
    database,
    pepper: context.pepper,
    directory,
    log,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What the starts of parts work with. */
export interface SystemContext {
  options: SystemOptions;
  directory: string;
  natsBinary: string;
  env: Record<string, string | undefined>;
  pepper: string;
  log(line: string): void;
  /** What is started goes onto it. */
  stack: AsyncDisposableStack;
}
