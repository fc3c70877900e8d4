import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { inheritedEnvironment } from '../test/support/run/compile-cache.ts';

const script = fileURLToPath(new URL('service.ts', import.meta.url));

function run(args: readonly string[], env: Record<string, string> = {}) {
  const { pid, status, stdout, stderr } = spawnSync(execPath, [script, ...args], {
    env: { ...inheritedEnvironment(), WEIR_DATA_DIR: '/nonexistent', ...env },
    encoding: 'utf8',
  });
  return { pid, status, stdout, stderr };
}

test('the process becomes the service, with its Node options; signals and pid are those of the service', () => {
  const named = run(['writer'], { LOG_LEVEL: 'info' });
  expect(named.status).toBe(1);
  expect(named.stderr).toContain('writer: The configuration lacks DATABASE_URL, NATS_URL');
  expect(JSON.parse(named.stdout.split('\n')[0] ?? '')).toMatchObject({ name: 'writer', pid: named.pid });
  expect(run([], { WEIR_SERVICE: 'ingest' }).stderr).toContain('ingest: The configuration lacks');
});

test('weir runs a command of the operator; anything else is bad usage', () => {
  expect(run(['weir', '--help']).stdout).toContain('Usage: weir');
  for (const args of [[], ['postgres']]) {
    const { status, stderr } = run(args);
    expect(status).toBe(2);
    expect(stderr).toContain('ingest, writer, dashboard-api, or `weir` and a command');
  }
});
