import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runWeir } from '../../test/support/cli/command-line.ts';
import { Operator } from '../../test/support/cli/operator.ts';

const operator = new Operator();

test('a space is created, listed and changed', async () => {
  const spaceId = await operator.createSpace('--monthly-events', '10', '--billing', 'inactive');
  const settings = {
    monthlyEventLimit: 10,
    billingState: 'inactive',
    retentionDays: null,
    plan: null,
    deleteAt: null,
    dimensions: [],
  };
  const created = { spaceId, name: 'a space', ...settings };
  const listed: unknown[] = await operator.weir('space', 'list');
  expect(listed).toContainEqual({ ...created, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) });
  expect(await operator.weir('space', 'set', spaceId, '--billing', 'active')).toMatchObject({
    ...created,
    billingState: 'active',
  });
  expect(await operator.weir('space', 'set', spaceId, '--monthly-events', 'none')).toMatchObject({
    monthlyEventLimit: null,
  });
  expect(await operator.weir('space', 'set', spaceId.toUpperCase(), '--monthly-events', '0')).toMatchObject({
    monthlyEventLimit: 0,
    billingState: 'active',
  });
});

test('a space is owned by the named user, or by the first user of `weir start`', async () => {
  const email = 'owner@example.org';
  await operator.weir('user', 'create', '--email', email);
  const create = ['space', 'create', '--name', 'owned'];
  const roles = async (spaceId: string) => {
    const users: { email: string; spaces: unknown[] }[] = await operator.weir('user', 'list');
    const spaces = users.find((user) => user.email === email)?.spaces ?? [];
    return spaces.filter((one) => JSON.stringify(one).includes(spaceId));
  };
  const named = await operator.weir(...create, '--owner', email);
  expect(named).toEqual({ spaceId: expect.any(String), owner: email });
  expect(await roles(named.spaceId)).toMatchObject([{ role: 'owner' }]);

  const directory = mkdtempSync(join(tmpdir(), 'weir-space-'));
  try {
    const { DATABASE_URL: databaseUrl, ...variables } = operator.variables;
    writeFileSync(join(directory, 'connection.json'), JSON.stringify({ databaseUrl, email }));
    const { stdout } = await runWeir(create, { ...variables, WEIR_DATA_DIR: directory });
    expect(await roles(JSON.parse(stdout).spaceId)).toMatchObject([{ role: 'owner' }]);
  } finally {
    rmSync(directory, { recursive: true });
  }

  // Without either, the space has no owner. With an unknown owner, no space is created.
  expect(await operator.weir(...create)).toEqual({ spaceId: expect.any(String) });
  const unknown = await operator.run([...create, '--owner', 'nobody@example.org']);
  expect(unknown).toMatchObject({ exitCode: 1, stdout: '' });
});

test('the plan of a space is set, shown and removed', async () => {
  const spaceId = await operator.createSpace('--plan', 'team');
  const listed: unknown[] = await operator.weir('space', 'list');
  expect(listed).toContainEqual(expect.objectContaining({ spaceId, plan: 'team' }));
  const set = (plan: string) => operator.weir('space', 'set', spaceId, '--plan', plan);
  expect(await set('business')).toMatchObject({ plan: 'business', billingState: 'active' });
  expect(await set('none')).toMatchObject({ plan: null });
  expect((await operator.run(['space', 'set', spaceId, '--plan', ''])).exitCode).toBe(2);
});

test('the retention of a space is set, shown and removed', async () => {
  const spaceId = await operator.createSpace('--retention-days', '30');
  const listed: unknown[] = await operator.weir('space', 'list');
  expect(listed).toContainEqual(expect.objectContaining({ spaceId, retentionDays: 30 }));
  const set = (days: string) => operator.weir('space', 'set', spaceId, '--retention-days', days);
  expect(await set('1')).toMatchObject({ retentionDays: 1, billingState: 'active' });
  expect(await set('none')).toMatchObject({ retentionDays: null });
  for (const days of ['0', '-1', '1.5', '36501', 'forever']) {
    const { exitCode, stderr } = await operator.run(['space', 'set', spaceId, '--retention-days', days]);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('1 to 36500'),
    });
  }
});

test('usage shows the events of the month and the limit', async () => {
  const spaceId = await operator.createSpace('--monthly-events', '7');
  expect(await operator.weir('usage', '--space', spaceId)).toEqual({
    spaceId,
    month: expect.stringMatching(/^\d{4}-\d\d$/),
    events: 0,
    monthlyEventLimit: 7,
    billingState: 'active',
    plan: null,
    forecast: 0,
    limitReachedAt: null,
    resetsAt: expect.stringMatching(/-01T00:00:00\.000Z$/),
  });
});
