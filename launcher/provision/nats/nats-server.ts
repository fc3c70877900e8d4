import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readNatsHealth, readNatsTags } from '../../../platform/queue/nats-health.ts';
import { describeExit, type StopSignals } from '../../process/child-process.ts';
import { lastLogLines, logBytes } from '../../process/log-file.ts';
import {
  PortTakenError,
  pollUntilUp,
  type ServerProcess,
  type StartHooks,
  spawnServer,
} from '../../process/server-process.ts';

export interface NatsServerOptions extends StartHooks {
  /** The path of the program, from `findNatsServer`. */
  binary: string;
  /** Created when it does not exist. It also holds the configuration file, which contains the password. */
  storeDir: string;
  port: number;
  monitorPort: number;
  /** The password of the user `weir`. */
  password: string;
  /** `max_file`: the limit of all streams together, in bytes. */
  maxFileBytes: number;
  logFile: string;
  /** Default `always`. Tests override it to show that events are lost without it. */
  syncInterval?: string;
  /** Set by tests: the name of a cluster's member, and the member's further settings. */
  member?: { name: string; settings: string };
}

export interface NatsServer extends ServerProcess {
  readonly monitorUrl: string;
}

/** SIGTERM closes the files. Lame duck mode would wait for clients, which have all stopped. */
const stopSignals: StopSignals = [{ signal: 'SIGTERM', waitMs: 15_000 }];

/** Reading a store of 10 GiB after a crash takes seconds. */
const startTimeoutMs = 120_000;

const healthTimeoutMs = 2_000;

/**
 * Runs a nats-server with JetStream on loopback, with every message fsynced before its acknowledgement
 * (docs/durability.md). Resolves when it is healthy.
 * @throws PortTakenError when another process listens on one of the ports.
 * @throws Error with the server's last output when it does not start.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const { port, monitorPort, logFile } = options;
  // The server reports its tags, so that another server on our port is not mistaken for ours.
  const startTag = `start:${randomUUID()}`;
  const configFile = writeConfig({ ...options, storeDir: resolve(options.storeDir) }, startTag);
  const logStart = logBytes(logFile);
  const server = await spawnServer([options.binary, '--config', configFile], {
    logFile,
    stopSignals,
    onSpawn: options.onSpawn,
  });
  const monitorUrl = `http://127.0.0.1:${monitorPort}`;
  const polling = { isUp: () => isUp(monitorUrl, startTag), timeoutMs: startTimeoutMs, pollMs: 25 };
  if (await pollUntilUp({ ...server, signal: options.signal }, polling)) {
    const url = `nats://weir:${options.password}@127.0.0.1:${port}`;
    return { ...server, url, port, monitorUrl, [Symbol.asyncDispose]: server.stop };
  }
  await server.stop();
  options.signal?.throwIfAborted();
  const lastOutput = lastLogLines(logFile, logStart);
  if (/address already in use/.test(lastOutput))
    throw new PortTakenError(`One of the ports ${port} and ${monitorPort}, or that of a cluster, is taken.`);
  throw new Error(
    `nats-server did not start (${describeExit(await server.exited)}). Its log, ${logFile}, ends with:\n${lastOutput}`,
  );
}

function writeConfig(options: NatsServerOptions, startTag: string): string {
  const file = join(options.storeDir, 'nats-server.conf');
  mkdirSync(options.storeDir, { recursive: true, mode: 0o700 });
  // `mode` applies only to a new file, and this one contains the password.
  rmSync(file, { force: true });
  writeFileSync(file, renderConfig(options, startTag), { mode: 0o600 });
  return file;
}

/** Makes an acknowledged message durable. nats-server accepts JSON's string syntax. */
function renderConfig(options: NatsServerOptions, startTag: string): string {
  return `# Generated at every start.
server_name: ${JSON.stringify(options.member?.name ?? 'weir')}
server_tags: [${JSON.stringify(startTag)}]
host: "127.0.0.1"
port: ${options.port}
http: "127.0.0.1:${options.monitorPort}"
max_payload: 8MB
logtime_utc: true
jetstream {
  store_dir: ${JSON.stringify(options.storeDir)}
  sync_interval: ${options.syncInterval ?? 'always'}
  max_file: ${options.maxFileBytes}
}
authorization { user: "weir", password: ${JSON.stringify(options.password)} }
${options.member?.settings ?? ''}`;
}

async function isUp(monitorUrl: string, startTag: string): Promise<boolean> {
  try {
    const { isHealthy, writeError } = await readNatsHealth(monitorUrl, healthTimeoutMs);
    // A full disk does not fail the start: nats-watchdog.ts handles it.
    if (!isHealthy && writeError === undefined) return false;
    return (await readNatsTags(monitorUrl, healthTimeoutMs)).includes(startTag);
  } catch {
    return false;
  }
}
