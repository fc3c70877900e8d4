import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { spawnServer } from '../../launcher/process/server-process.ts';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';
import { startPostgres } from '../../launcher/provision/postgres/postgres.ts';
import { locatePostgres } from '../../launcher/provision/postgres/postgres-binaries.ts';
import { choosePostgresUser } from '../../launcher/provision/postgres/postgres-user.ts';
import { trustCertificates } from '../../platform/config/trusted-certificates.ts';
import { parseConfig } from '../../platform/config.ts';
import { runWeirProcess } from '../support/cli/command-line.ts';
import { makePair, type Pair } from '../support/protocols/certificate.ts';

const directory = mkdtempSync(join(tmpdir(), 'weir-private-ca-'));
const resources = new AsyncDisposableStack();
resources.defer(() => rmSync(directory, { recursive: true, force: true }));
afterAll(() => resources.disposeAsync());

const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
let pair: Pair;
let natsUrl: string;
let postgresPort: number;

/** A Postgres and a nats-server that serve TLS only with a certificate that is its own CA. */
beforeAll(async () => {
  pair = await makePair();
  writeFileSync(certFile, pair.cert);
  writeFileSync(keyFile, pair.private, { mode: 0o600 });
  const dataDir = join(directory, 'postgres');
  const user = choosePostgresUser(dataDir, [locatePostgres().postgres, dataDir]);
  for (const path of [directory, certFile, keyFile]) user.own(path);
  const settings = {
    listen_addresses: '127.0.0.1,127.0.0.2',
    ssl: 'on',
    ssl_cert_file: certFile,
    ssl_key_file: keyFile,
  };
  const logFile = join(directory, 'postgres.log');
  const postgres = await startOnFreePorts(1, ([port = 0]) =>
    startPostgres({ dataDir, port, password: 'test', logFile, settings }),
  );
  postgresPort = resources.use(postgres).port;
  natsUrl = await startOnFreePorts(1, async ([port = 0]) => {
    mkdirSync(join(directory, 'nats'));
    const config = join(directory, 'nats.conf');
    writeFileSync(
      config,
      `listen: "127.0.0.1:${port}"
      max_payload: 8MB
      jetstream { store_dir: "${join(directory, 'nats')}" }
      tls { cert_file: "${certFile}", key_file: "${keyFile}" }`,
    );
    const server = await spawnServer([inject('natsServerBinary'), '--config', config], {
      logFile: join(directory, 'nats.log'),
      stopSignals: [{ signal: 'SIGTERM', waitMs: 5_000 }],
    });
    resources.defer(() => server.stop());
    return `tls://127.0.0.1:${port}`;
  });
});

/** The checks of Postgres and nats-server that `weir doctor` makes over TLS. */
async function examine(host: string, variables: Record<string, string>) {
  const { stdout } = await runWeirProcess(['doctor'], {
    DATABASE_URL: `postgres://weir:test@${host}:${postgresPort}/weir?sslmode=verify-full`,
    NATS_URL: natsUrl,
    ...variables,
  });
  const findings: { check: string; status: string; found: string }[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const find = (name: string) => findings.find(({ check }) => check === name);
  return { postgres: find('postgres.reachable'), nats: find('nats.reachable') };
}

test('Postgres and nats-server with a certificate of an own CA are reached with TLS_CA_FILE, and only by their names', async () => {
  const without = await examine('127.0.0.1', {});
  expect(without).toMatchObject({ postgres: { status: 'failed' }, nats: { status: 'failed' } });
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await examine(host, { TLS_CA_FILE: certFile })).toMatchObject({
      postgres: { status: 'ok' },
      nats: { status: 'ok' },
    });
  const { postgres } = await examine('127.0.0.2', { TLS_CA_FILE: certFile });
  expect(postgres).toMatchObject({ status: 'failed', found: expect.stringContaining('altnames') });
});

test('requests of this process, such as those to the OpenID provider, trust it, too', async () => {
  const server = createServer({ cert: pair.cert, key: pair.private }, (_, response) => response.end('ok'));
  resources.defer(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(fetch(url)).rejects.toThrow();
  trustCertificates(parseConfig({ TLS_CA_FILE: certFile }));
  expect(await (await fetch(url)).text()).toBe('ok');
});

test('a file without certificates, and options of libpq that have no effect, are refused', () => {
  for (const file of [keyFile, join(directory, 'missing')])
    expect(() => trustCertificates(parseConfig({ TLS_CA_FILE: file }))).toThrow(
      /TLS_CA_FILE .* cannot be used/,
    );
  const url = 'postgres://weir@db.internal/weir?sslmode=verify-full';
  for (const name of ['sslrootcert', 'sslcert', 'sslkey'])
    expect(() => parseConfig({ DATABASE_URL: `${url}&${name}=/ca.pem` })).toThrow(
      `DATABASE_URL: has ${name}, which has no effect: name the file of your CA in TLS_CA_FILE`,
    );
  expect(parseConfig({ DATABASE_URL: `${url}&sslrootcert=system` }).DATABASE_URL).toContain('system');
});
