import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { requiredOf, serviceNames } from '../platform/config/services.ts';
import { inheritedEnvironment } from '../test/support/run/inherited-environment.ts';

const script = fileURLToPath(new URL('service.ts', import.meta.url));

/** One process of each service also on a larger machine. */
const own = { WEIR_DATA_DIR: '/nonexistent', INGEST_PROCESSES: '1', WRITER_PROCESSES: '1' };

function run(args: readonly string[], env: Record<string, string> = {}) {
  const { pid, status, stdout, stderr } = spawnSync(execPath, [script, ...args], {
    env: { ...inheritedEnvironment(), ...own, ...env },
    encoding: 'utf8',
  });
  return { pid, status, stdout, stderr };
}

test('the process becomes the service, with its Node options; signals and pid are those of the service', () => {
  const named = run(['writer'], { LOG_LEVEL: 'info' });
  expect(named.status).toBe(1);
  expect(named.stderr).toMatch(
    /^writer: The configuration has mistakes:\n {2}DATABASE_URL: must be set.*\n {2}NATS_URL: must be set/,
  );
  expect(run([], { WEIR_SERVICE: 'ingest' }).stderr).toContain('ingest: The configuration has mistakes');
  // A service that starts has the pid of the process that became it.
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/x', NATS_URL: 'nats://127.0.0.1:1' };
  const started = run(['writer'], { ...env, METRICS_PORT: '0', LOG_LEVEL: 'info' });
  expect(started.stderr).toContain('NATS_URL');
  expect(JSON.parse(started.stdout.split('\n')[0] ?? '')).toMatchObject({ name: 'writer', pid: started.pid });
});

test.each(serviceNames)(
  '%s reports all mistakes of its configuration at once, each by its variable',
  (name) => {
    const wrong = {
      METRICS_PORT: '70000',
      LOG_LEVEL: 'loud',
      INGEST_PORT: 'http',
      WRITER_CONNECTIONS: '0',
      TLS_CERT_FILE: '/nonexistent',
      API_KEY_PEPPER_FILE: '/nonexistent',
      DRAIN_DELAY_MS: '-1',
    };
    const { status, stderr } = run([name], wrong);
    expect(status).toBe(1);
    const lines = stderr.trim().split('\n  ');
    expect(lines[0]).toBe(`${name}: The configuration has mistakes:`);
    const missing = requiredOf[name].filter((one) => one !== 'API_KEY_PEPPER');
    expect(lines.slice(1).map((line) => line.split(':')[0])).toEqual([
      ...missing,
      'API_KEY_PEPPER_FILE',
      ...[
        'INGEST_PORT',
        'WRITER_CONNECTIONS',
        'METRICS_PORT',
        'DRAIN_DELAY_MS',
        'LOG_LEVEL',
        'TLS_CERT_FILE',
      ],
    ]);
  },
);

test('several processes of a service that does not start report its mistakes once', () => {
  const { status, stderr } = run(['writer'], { WRITER_PROCESSES: '2' });
  expect(status).toBe(1);
  expect(stderr.split('DATABASE_URL: must be set')).toHaveLength(2);
  expect(stderr).toMatch(/^writer did not start \(exit code 1\)\.$/m);
});

test('weir runs a command of the operator; anything else is bad usage', () => {
  expect(run(['weir', '--help']).stdout).toContain('Usage: weir');
  for (const args of [[], ['postgres']]) {
    const { status, stderr } = run(args);
    expect(status).toBe(2);
    expect(stderr).toContain('ingest, writer, dashboard-api, or `weir` and a command');
  }
});
