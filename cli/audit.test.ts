import type { Command } from 'commander';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { noSpace } from '../store/db/limits.ts';
import { auditLog, quarantine } from '../store/db/schema.ts';
import { Operator, unknownId } from '../test/support/cli/operator.ts';
import { buildProgram } from './program.ts';

/**
 * Every command that changes data writes an audit row. A new command fails the first test until it is listed
 * here.
 */

const operator = new Operator();
const email = 'a@example.org';

/** The preparation and the command; `log`: whether its row is in the space's log or in the operator's. */
const changes: Record<
  string,
  { prepare?: string[][]; args: string[]; log: 'space' | 'no space'; rows?: number }
> = {
  'space create': { args: ['--name', 'x'], log: 'space' },
  'space set': { args: ['SPACE', '--monthly-events', '5'], log: 'space' },
  'space delete': { args: ['SPACE', '--yes'], log: 'space' },
  'space restore': { prepare: [['space', 'delete', 'SPACE', '--yes']], args: ['SPACE'], log: 'space' },
  'key create': { args: ['--space', 'SPACE'], log: 'space' },
  'key revoke': { args: ['KEY'], log: 'space' },
  'user create': { args: ['--email', 'b@example.org', '--password-stdin'], log: 'no space' },
  'user password': { args: ['--email', email, '--password-stdin'], log: 'no space' },
  'user link': { args: ['--email', email, '--url', 'http://x'], log: 'no space' },
  // The second row is for the link.
  'user reclaim': { args: ['--email', email, '--url', 'http://x'], log: 'no space', rows: 2 },
  'user reset-second-factor': { args: ['--email', email], log: 'no space' },
  'user disable': { args: ['--email', email], log: 'no space' },
  'user enable': {
    prepare: [['user', 'disable', '--email', email]],
    args: ['--email', email],
    log: 'no space',
  },
  'user operator': { args: ['--email', email], log: 'no space' },
  'user role': { args: ['--email', email, '--space', 'SPACE', '--role', 'viewer'], log: 'space' },
  'price set': { args: ['--model', 'm', '--input', '1', '--output', '2'], log: 'no space' },
  'price import': { args: ['store/prices/shipped/list-prices.json'], log: 'no space' },
  'price remove': {
    prepare: [['price', 'set', '--model', 'm', '--input', '1', '--output', '2']],
    args: ['--model', 'm'],
    log: 'no space',
  },
  'quarantine replay': { args: [], log: 'space' },
};
/**
 * `erase` and `reproject` have tests with events; `migrate` creates the log, and `restore` and `replay` bring
 * it back; a backup has a row of its own (`backups`). The others only read, send events or run services.
 */
const others = [
  ...['space list', 'key list', 'user list', 'price list', 'quarantine list', 'usage', 'storage', 'audit'],
  ...['event', 'events', 'trace', 'thread', 'tail', 'charts', 'export', 'doctor'],
  ...['find', 'send', 'migrate', 'erase', 'reproject', 'queue', 'space deletions'],
  ...['backup', 'restore', 'replay', 'start', 'serve'],
];

function leaves(command: Command, path: string[] = []): string[] {
  return command.commands.flatMap((one) => {
    const own = [...path, one.name()];
    return one.commands.length > 0 ? leaves(one, own) : [own.join(' ')];
  });
}

test('every command is listed here', () => {
  const host = {
    env: {},
    directory: '',
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
  };
  expect(leaves(buildProgram(host)).sort()).toEqual([...Object.keys(changes), ...others].sort());
});

const passwords = { stdin: 'a long password\n' };
const readLog = () => operator.database.select().from(auditLog).orderBy(auditLog.id);

test.each(Object.entries(changes))(
  'weir %s has an audit row',
  async (name, { prepare = [], args, log, rows = 1 }) => {
    const spaceId = await operator.createSpace();
    const { keyId } = await operator.weir('key', 'create', '--space', spaceId);
    await operator.run(['user', 'create', '--email', email, '--password-stdin'], passwords);
    const fill = (list: readonly string[]) => list.map((arg) => ({ SPACE: spaceId, KEY: keyId })[arg] ?? arg);
    for (const command of prepare) await operator.weir(...fill(command));
    if (name === 'quarantine replay') await addToQuarantine(spaceId);
    const before = await readLog();
    await operator.run([...name.split(' '), ...fill(args)], passwords);
    await operator.database.delete(quarantine);
    const added = (await readLog()).slice(before.length);
    expect(added).toHaveLength(rows);
    expect(added[0]).toMatchObject({ actor: 'operator', address: null });
    expect([name, added[0]?.spaceId === noSpace]).toEqual([name, log === 'no space']);
  },
);

async function addToQuarantine(spaceId: string): Promise<void> {
  await operator.database.insert(quarantine).values({
    spaceId,
    id: unknownId,
    receivedAt: new Date(),
    eventCount: 1,
    sqlstate: '23514',
    message: 'rejected',
    part: Buffer.from('x'),
  });
}

test('weir audit prints the log of a space, or that of changes outside of spaces, newest rows first', async () => {
  const spaceId = await operator.createSpace();
  await operator.weir('key', 'create', '--space', spaceId, '--name', 'k');
  await operator.database
    .insert(auditLog)
    .values(Array.from({ length: 600 }, () => ({ spaceId, actor: 'operator', action: 'test', details: {} })));
  const rows = (await operator.print(['audit', '--space', spaceId]))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toHaveLength(602);
  expect(rows.slice(-2)).toMatchObject([
    { action: 'api_key.create', actor: 'operator', details: { name: 'k' } },
    { action: 'space.create' },
  ]);
  await operator.weir('price', 'set', '--model', 'printed', '--input', '1', '--output', '2');
  const [last] = (await operator.print(['audit'])).split('\n');
  expect(JSON.parse(last ?? '')).toMatchObject({
    action: 'price.set',
    details: { model: 'printed', input: '1' },
  });
  const prices = await operator.database.select().from(auditLog).where(eq(auditLog.spaceId, noSpace));
  expect(prices.length).toBeGreaterThan(0);
  expect((await operator.run(['audit', '--space', unknownId])).exitCode).toBe(1);
});
