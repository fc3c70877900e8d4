import { expect, test } from 'vitest';
import { runWeirProcess } from '../test/support/cli/command-line.ts';
import { Operator, unknownId } from '../test/support/cli/operator.ts';

const operator = new Operator();

test.each([
  ['space', 'set', unknownId, '--billing', 'active'],
  ['space', 'set', 'nonsense', '--billing', 'active'],
  ['key', 'create', '--space', unknownId],
  ['key', 'create', '--space', 'nonsense'],
  ['key', 'list', '--space', unknownId],
  ['key', 'revoke', unknownId],
  ['key', 'revoke', 'nonsense'],
  ['user', 'password', '--email', 'nobody@example.org'],
  ['user', 'role', '--email', 'nobody@example.org', '--space', unknownId, '--role', 'owner'],
  ['user', 'create', '--email', 'a@example.org', '--space', unknownId],
  ['events', '--space', unknownId],
  ['usage', '--space', unknownId],
  ['usage', '--space', 'nonsense'],
  ['quarantine', 'list', '--space', unknownId],
  ['quarantine', 'replay', unknownId],
])('what does not exist is reported in one sentence: %s %s %s %s', async (...args) => {
  const { exitCode, stderr } = await operator.run(args);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^weir: (There is no|Not in quarantine).*\.\n$/);
});

test.each([
  [['bogus']],
  [['space', 'create']],
  [['space', 'create', '--name', 'n', '--monthly-events', '-1']],
  [['space', 'create', '--name', 'n', '--billing', 'maybe']],
  [['space', 'create', '--name', 'a\u0007b']],
  [['space', 'set', unknownId]],
  [['user', 'create']],
  [['user', 'create', '--email', 'nobody']],
  [['user', 'create', '--email', 'a@b\u0007']],
  [['user', 'create', '--email', 'a@b', '--role', 'owner']],
  [['user', 'create', '--email', 'a@b', '--space', unknownId, '--role', 'king']],
  [['user', 'role', '--email', 'a@b', '--space', unknownId]],
  [['events', '--space', unknownId, '--limit', 'x']],
  [['send']],
  [['send', 'file', '--batch', '501']],
  [['send', 'file', '--url', 'ftp://host']],
  [['send', 'file', '--key', 'a b']],
])('bad usage is exit code 2: %j', async (args) => {
  const { exitCode, stdout, stderr } = await operator.run(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/error: |Usage: /);
});

test('a command without arguments exits with code 2 and its usage on stderr', async () => {
  const { exitCode, stdout, stderr } = await runWeirProcess([]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('Usage: ');
});

test('when Weir is not running, the command reports it and suggests what to do', async () => {
  const result = await runWeirProcess(['space', 'list']);
  expect(result).toMatchObject({ exitCode: 1, stdout: '' });
  expect(result.stderr).toMatch(/^weir: Nothing was started .*`weir start`.*\.\n$/);
  const gone = await runWeirProcess(['space', 'list'], { DATABASE_URL: 'postgres://127.0.0.1:9/none' });
  expect(gone).toMatchObject({ exitCode: 1, stdout: '' });
  expect(gone.stderr).toMatch(/^weir: Postgres does not answer \(ECONNREFUSED\).*`weir start`.*\.\n$/);
});
