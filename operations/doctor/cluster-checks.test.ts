import { expect, test } from 'vitest';
import { type ExaminedNode, judgeNodes, type NodeReport } from './cluster-checks.ts';

const settings = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_level: 'logical',
  max_connections: '300',
  max_prepared_transactions: '300',
};
const good: NodeReport = { postgres: '18.6', citus: '14.0-1', settings, inDoubt: 0 };
const worker = (changes: Partial<NodeReport>): ExaminedNode => ({
  name: 'worker:5432',
  report: { ...good, ...changes },
});
const coordinator: ExaminedNode = { name: 'coordinator:5432', report: good };

test('a cluster as the documents describe has no finding', () => {
  const findings = judgeNodes([coordinator, worker({})]);
  expect(findings.map(({ status }) => status)).toEqual(findings.map(() => 'ok'));
});

const withSetting = (changes: Partial<typeof settings>) => worker({ settings: { ...settings, ...changes } });

test.each<[string, string, ExaminedNode, string]>([
  ['cluster.nodes', 'failed', { name: 'worker:5432', error: 'worker:5432: refused' }, 'worker:5432: refused'],
  ['cluster.versions', 'warning', worker({ postgres: '18.5' }), 'worker:5432: Postgres 18.5, Citus 14.0-1'],
  ['cluster.durability', 'failed', withSetting({ fsync: 'off' }), 'worker:5432 has fsync=off'],
  [
    'cluster.settings',
    'warning',
    withSetting({ max_prepared_transactions: '0' }),
    'worker:5432 has max_prepared_transactions=0 for 300 connections',
  ],
  ['cluster.settings', 'warning', withSetting({ wal_level: 'replica' }), 'worker:5432 has wal_level=replica'],
  ['cluster.transactions', 'failed', worker({ inDoubt: 2 }), 'worker:5432 has 2 prepared'],
])('%s: %s, and no other check', (check, status, node, found) => {
  const findings = judgeNodes([coordinator, node]).filter((one) => one.status !== 'ok');
  expect(findings).toEqual([
    { check, status, found: expect.stringContaining(found), action: expect.stringMatching(/\w/) },
  ]);
});
