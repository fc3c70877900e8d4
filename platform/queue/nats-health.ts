import type { IncomingMessage } from 'node:http';
import process from 'node:process';
import { json } from 'node:stream/consumers';
import type { NatsConnection } from '@nats-io/transport-node';
import { type MonitorConfig, monitorUrls } from './sync-always.ts';

/** `import`, like `fetch`, would load Node's `fetch`: 17 MB of the supervisor's memory. */
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

/** Within that of a readiness probe: a monitoring port that does not respond makes nothing unready. */
const probeTimeoutMs = 500;

/**
 * Checks that nats-server answers, and that the disks of most servers take writes. A monitoring port that
 * does not respond says nothing. @throws Error with the reason.
 */
export async function requireWritable(connection: NatsConnection, config: MonitorConfig): Promise<void> {
  const urls = monitorUrls(connection, config);
  const reports = urls.map((url) => readNatsHealth(url, probeTimeoutMs).catch(() => undefined));
  await connection.flush();
  const errors = (await Promise.all(reports)).flatMap((report) => report?.writeError ?? []);
  if (errors.length > urls.length / 2) throw new Error(errors[0]);
}

export interface NatsHealth {
  /** JetStream and every stream are ready. */
  isHealthy: boolean;
  /** The error after which nats-server rejects every write: the disk was full, or an fsync failed. */
  writeError?: string | undefined;
}

/** @throws when nats-server does not respond in time. */
export async function readNatsHealth(monitorUrl: string, timeoutMs: number): Promise<NatsHealth> {
  const { status, body } = await readMonitor(`${withoutSlash(monitorUrl)}/healthz`, timeoutMs);
  const { error } = body as { error?: string };
  // Other errors are temporary: the server is starting or, in a cluster, a stream is catching up.
  return { isHealthy: status === 200, writeError: error?.includes('write error') ? error : undefined };
}

/** The tags of a nats-server's configuration. @throws when it does not respond in time. */
export async function readNatsTags(monitorUrl: string, timeoutMs: number): Promise<readonly string[]> {
  const { body } = await readMonitor(`${withoutSlash(monitorUrl)}/varz`, timeoutMs);
  return (body as { tags?: string[] }).tags ?? [];
}

/** A configured URL may end with one. */
const withoutSlash = (url: string) => url.replace(/\/$/, '');

async function readMonitor(url: string, timeoutMs: number) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const { get } = url.startsWith('https:') ? https : http;
    get(url, { signal: AbortSignal.timeout(timeoutMs) }, resolve).on('error', reject);
  });
  return { status: response.statusCode, body: await json(response) };
}
