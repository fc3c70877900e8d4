import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { execPath } from 'node:process';
import { expect, test } from 'vitest';
import { createDatabase } from '../test/support/test-servers.ts';

const importLog = `import { openLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};`;

const program = `
  ${importLog}
  const log = openLog('test', { LOG_LEVEL: 'info' });
  for (let i = 0; i < 3; i++) {
    log.info({ password: 'secret' }, 'said');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  process.stderr.write('done');
`;

function run(output: number | 'pipe', text = program) {
  return spawnSync(execPath, ['--input-type=module', '--eval', text], {
    stdio: ['ignore', output, 'pipe'],
    encoding: 'utf8',
    timeout: 30_000,
  });
}

test('an output that accepts nothing, as on a full disk, does not end the process', () => {
  const full = openSync('/dev/full', 'w');
  try {
    expect(run(full)).toMatchObject({ status: 0, stderr: 'done' });
  } finally {
    closeSync(full);
  }
});

test('an entry is one line of JSON, with secrets redacted', () => {
  const { status, stdout } = run('pipe');
  expect(status).toBe(0);
  const entries = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries).toHaveLength(3);
  expect(entries[0]).toMatchObject({ name: 'test', msg: 'said', password: '…' });
});

test('the error of a query is logged with its code and its cause, and without its parameters and rows', async () => {
  await using database = await createDatabase();
  const failing = `
    ${importLog}
    import postgres from 'postgres';
    import { openDatabase } from ${JSON.stringify(new URL('../store/db/database.ts', import.meta.url).href)};
    import { users } from ${JSON.stringify(new URL('../store/db/schema.ts', import.meta.url).href)};
    const sql = postgres(${JSON.stringify(database.url)}, { max: 1 });
    const database = openDatabase(sql);
    const insert = () => database.insert(users).values({ email: 'canary-email', passwordHash: 'canary-hash' });
    await insert();
    const error = await insert().catch((error) => error);
    const log = openLog('test', { LOG_LEVEL: 'info' });
    log.warn({ err: error }, 'direct');
    log.warn({ err: new Error('outer', { cause: error }) }, 'as a cause');
    await sql.end();
  `;
  const { status, stdout, stderr } = run('pipe', failing);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [direct, asCause] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(direct.err).toMatchObject({
    type: 'PostgresError',
    code: '23505',
    message: expect.stringContaining('users_email_unique'),
  });
  expect(asCause.err).toMatchObject({ message: 'outer', cause: { code: '23505' } });
  expect(stdout).not.toContain('canary');
});
