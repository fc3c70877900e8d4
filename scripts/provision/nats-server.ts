import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  describeExit,
  type EmbeddedProcess,
  lastLogLines,
  logLength,
  PortTakenError,
  type StartHooks,
  type StopSignals,
  spawnServer,
} from './embedded-process.ts';
import { readNatsHealth } from './nats-health.ts';

export interface NatsServerOptions extends StartHooks {
  /** The program, from `findNatsServer`. */
  binary: string;
  /** Made when it is not there. The configuration, with the password in it, lies in it too. */
  storeDir: string;
  port: number;
  monitorPort: number;
  /** Of the user `weir`. */
  password: string;
  /** Most bytes of all streams together. */
  maxFileBytes: number;
  logFile: string;
  /** In place of `always`, to show what that is good for. */
  syncInterval?: string;
  /** Set for a member of a cluster. Members start side by side: none is healthy before most of them run. */
  cluster?: ClusterMember;
}

/** One member of a cluster of nats-servers. */
export interface ClusterMember {
  /** Its name, its own in the cluster and the same at every start. */
  name: string;
  /** Where the other members reach it. */
  port: number;
  /** `host:port` at which it reaches the others. */
  routes: readonly string[];
}

export interface NatsServer extends EmbeddedProcess {
  /** Of the monitoring pages; they tell whether `sync_interval` is in force. */
  readonly monitorUrl: string;
}

/** On SIGTERM nats-server closes its files in order and ends. Lame duck mode would wait for clients; ours are gone. */
const stopSignals: StopSignals = [{ signal: 'SIGTERM', waitMs: 15_000 }];

/** Reading back a store of 10 GiB after a crash takes seconds; this is far more. */
const startTimeoutMs = 120_000;

/** How long one question to a starting server may take. */
const healthTimeoutMs = 2_000;

/**
 * Runs a nats-server with JetStream on loopback, with every message fsynced before its acknowledgement
 * (reliability §1). Resolves when it is healthy.
 *
 * @throws PortTakenError when somebody else listens on one of the ports.
 * @throws Error with the server's own last words when it does not start.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const { port, monitorPort, logFile } = options;
  // The server shows it among its tags: so a foreign server that answers on our port is not taken for ours.
  const start = `start:${randomUUID()}`;
  const configFile = writeConfig({ ...options, storeDir: resolve(options.storeDir) }, start);
  const logStart = logLength(logFile);
  const server = await spawnServer([options.binary, '--config', configFile], {
    logFile,
    stopSignals,
    onSpawn: options.onSpawn,
  });
  const monitorUrl = `http://127.0.0.1:${monitorPort}`;
  if (await becomesHealthy(monitorUrl, start, { ...server, signal: options.signal })) {
    const url = `nats://weir:${options.password}@127.0.0.1:${port}`;
    return { ...server, url, port, monitorUrl, [Symbol.asyncDispose]: server.stop };
  }
  await server.stop();
  options.signal?.throwIfAborted();
  const lastWords = lastLogLines(logFile, logStart);
  if (/address already in use/.test(lastWords)) {
    const ports = [port, monitorPort, options.cluster?.port].filter((one) => one !== undefined);
    throw new PortTakenError(`One of the ports ${ports.join(', ')} is taken.`);
  }
  throw new Error(
    `nats-server did not start (${describeExit(await server.exited)}). Its log, ${logFile}, ends with:\n${lastWords}`,
  );
}

function writeConfig(options: NatsServerOptions, start: string): string {
  const file = join(options.storeDir, 'nats-server.conf');
  mkdirSync(options.storeDir, { recursive: true, mode: 0o700 });
  // Removed first, so that the mode holds: the file has the password.
  rmSync(file, { force: true });
  writeFileSync(file, renderConfig(options, start), { mode: 0o600 });
  return file;
}

/** The configuration of reliability §1. JSON's quoting of strings is also nats-server's. */
function renderConfig(options: NatsServerOptions, start: string): string {
  return `# Written at every start.
server_name: ${JSON.stringify(options.cluster?.name ?? 'weir')}
server_tags: [${JSON.stringify(start)}]
host: "127.0.0.1"
port: ${options.port}
http: "127.0.0.1:${options.monitorPort}"
max_payload: 8MB
jetstream {
  store_dir: ${JSON.stringify(options.storeDir)}
  sync_interval: ${options.syncInterval ?? 'always'}
  max_file: ${options.maxFileBytes}
}
authorization { user: "weir", password: ${JSON.stringify(options.password)} }
${options.cluster === undefined ? '' : renderCluster(options.cluster, options.password)}`;
}

/** The password is the clients' own: on loopback there is nobody to keep them apart from. */
function renderCluster(member: ClusterMember, password: string): string {
  const routes = member.routes.map((address) => JSON.stringify(`nats://weir:${password}@${address}`));
  return `# A member that does not read holds up what goes to the others for so long; usual are 10 s.
write_deadline: "2s"
cluster {
  name: weir
  listen: "127.0.0.1:${member.port}"
  # The routes below, and what clients are given, are all there is: other ways would lead around a proxy.
  advertise: "127.0.0.1:1"
  no_advertise: true
  authorization { user: "weir", password: ${JSON.stringify(password)} }
  routes: [${routes.join(', ')}]
}
`;
}

/** Resolves to false when the server ended before it was healthy, or did not become so in time. */
async function becomesHealthy(
  monitorUrl: string,
  start: string,
  { exited, signal }: { exited: Promise<unknown>; signal: AbortSignal | undefined },
): Promise<boolean> {
  const deadline = Date.now() + startTimeoutMs;
  let ended = false;
  exited.then(() => {
    ended = true;
  });
  while (!ended && !signal?.aborted && Date.now() < deadline) {
    if (await isUp(monitorUrl, start)) return true;
    await sleep(25);
  }
  return false;
}

async function isUp(monitorUrl: string, start: string): Promise<boolean> {
  try {
    const { isHealthy, writeRefusal } = await readNatsHealth(monitorUrl, healthTimeoutMs);
    // A disk that is full is not its start's matter: it runs, and its supervisor watches it (watch-writes.ts).
    if (!isHealthy && writeRefusal === undefined) return false;
    const signal = AbortSignal.timeout(healthTimeoutMs);
    const { tags } = (await (await fetch(`${monitorUrl}/varz`, { signal })).json()) as { tags?: string[] };
    return tags?.includes(start) ?? false;
  } catch {
    return false;
  }
}
