import { getTableName, sql } from 'drizzle-orm';
import { messageOf } from '../../platform/thrown.ts';
import type { Database } from '../../store/db/database.ts';
import { type ClusterNode, listNodes, nameOfNode, runOnNode } from '../../store/db/layout/cluster-nodes.ts';
import {
  distributedTables,
  findUndistributed,
  hasCitus,
  isDistributed,
} from '../../store/db/layout/distribution.ts';
import { type Finding, failed, finding, findingsOf, ok, type Verdict, warning } from './finding.ts';
import { preparedSecondsMax } from './limits.ts';

export interface NodeReport {
  readonly postgres: string;
  readonly citus: string;
  readonly settings: Readonly<Record<(typeof namedSettings)[number], string>>;
  /** Prepared transactions of this database that are older than {@link preparedSecondsMax}. */
  readonly inDoubt: number;
}

export type ExaminedNode = { readonly name: string } & ({ report: NodeReport } | { error: string });

const namedSettings = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'wal_level',
  'max_connections',
  'max_prepared_transactions',
] as const;

/** Checks the nodes of a Citus cluster, and that no table stays local. @returns nothing without Citus. */
export async function checkCluster(database: Database): Promise<Finding[]> {
  if (!(await hasCitus(database))) return [];
  const areDistributed = await isDistributed(database);
  const tables = await finding('cluster.tables', distribute, () => checkTables(database, areDistributed));
  if (!areDistributed) return tables;
  const nodes = await Promise.all((await listNodes(database)).map((node) => examineNode(database, node)));
  return [...tables, ...judgeNodes(nodes)];
}

async function examineNode(database: Database, node: ClusterNode): Promise<ExaminedNode> {
  const name = nameOfNode(node);
  const settings = namedSettings.map((setting) => `'${setting}', current_setting('${setting}')`).join();
  const command = `
    SELECT json_build_object('postgres', current_setting('server_version'),
      'citus', (SELECT extversion FROM pg_extension WHERE extname = 'citus'), 'settings', json_build_object(${settings}),
      'inDoubt', (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()
        AND prepared < now() - make_interval(secs => ${preparedSecondsMax})))`;
  try {
    // The statement names its columns as the type does.
    return { name, report: JSON.parse(await runOnNode(database, node, command)) as NodeReport };
  } catch (error) {
    return { name, error: messageOf(error) };
  }
}

const distribute = 'Run `weir migrate --citus`.';

async function checkTables(database: Database, areDistributed: boolean): Promise<Verdict | Finding[]> {
  const undistributed = await findUndistributed(database);
  if (undistributed !== undefined) return failed(undistributed, distribute);
  if (!areDistributed) return ok('Citus has no workers: this is one Postgres');
  const rows = await database.execute<{ name: string; isIdentified: boolean }>(sql`
    SELECT relation.relname AS name, relation.relreplident <> 'd'
      OR EXISTS (SELECT FROM pg_index WHERE indrelid = relation.oid AND indisprimary) AS "isIdentified"
    FROM pg_dist_partition JOIN pg_class AS relation ON relation.oid = logicalrelid WHERE partmethod = 'h'`);
  const names = new Set(rows.map(({ name }) => name));
  const local = distributedTables.map(getTableName).filter((name) => !names.has(name));
  const unidentified = rows.filter(({ isIdentified }) => !isIdentified).map(({ name }) => name);
  return findingsOf({
    'cluster.tables':
      local.length === 0
        ? ok(`${distributedTables.length} tables are distributed`)
        : failed(`only on the coordinator: ${local.join(', ')}`, 'Run `weir migrate` on the coordinator.'),
    'cluster.identity':
      unidentified.length === 0
        ? ok('shards can move while events are stored')
        : warning(
            `no replica identity: ${unidentified.join(', ')}. Their shards cannot move while events are stored`,
            'Run `weir migrate` on the coordinator.',
          ),
  });
}

/** A node that did not answer is a finding. */
export function judgeNodes(nodes: readonly ExaminedNode[]): Finding[] {
  const reports = nodes.flatMap((node) => ('report' in node ? [node] : []));
  return findingsOf({
    'cluster.nodes': judgeReached(nodes),
    'cluster.versions': judgeVersions(reports),
    'cluster.durability': judgeDurability(reports),
    'cluster.settings': judgeSettings(reports),
    'cluster.transactions': judgeTransactions(reports),
  });
}

type Reached = Extract<ExaminedNode, { report: NodeReport }>;

function judgeReached(nodes: readonly ExaminedNode[]): Verdict {
  const away = nodes.flatMap((node) => ('error' in node ? [node.error] : []));
  if (away.length === 0) return ok(`${nodes.length} answer`);
  return failed(
    away.join('; '),
    'Start the node, or promote its standby (docs/cluster.md, A lost worker or coordinator). Events of its spaces wait in the queue.',
  );
}

function judgeVersions(nodes: readonly Reached[]): Verdict {
  const describe = ({ report }: Reached) => `Postgres ${report.postgres}, Citus ${report.citus}`;
  const [first] = nodes;
  if (first === undefined || nodes.every((node) => describe(node) === describe(first)))
    return ok(first === undefined ? 'no node answers' : describe(first));
  return warning(
    nodes.map((node) => `${node.name}: ${describe(node)}`).join('; '),
    'Finish the upgrade: the same versions on all nodes.',
  );
}

function judgeDurability(nodes: readonly Reached[]): Verdict {
  const names = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;
  const off = nodes.flatMap(({ name, report: { settings } }) =>
    names.filter((one) => settings[one] === 'off').map((one) => `${name} has ${one}=off`),
  );
  if (off.length === 0) return ok('fsync, full_page_writes and synchronous_commit are on');
  return failed(
    `${off.join(', ')}: a power cut loses or damages events that were answered with 202`,
    'Turn the settings on in the configuration of these nodes.',
  );
}

function judgeSettings(nodes: readonly Reached[]): Verdict {
  const wrong = nodes.flatMap(({ name, report: { settings } }) => {
    const [prepared, connections] = [settings.max_prepared_transactions, settings.max_connections];
    return [
      ...(Number(prepared) < Number(connections)
        ? [`${name} has max_prepared_transactions=${prepared} for ${connections} connections: a store fails`]
        : []),
      ...(settings.wal_level === 'logical'
        ? []
        : [`${name} has wal_level=${settings.wal_level}: its shards cannot move while events are stored`]),
    ];
  });
  if (wrong.length === 0) return ok('max_prepared_transactions and wal_level are those of the documents');
  return warning(wrong.join('; '), 'Change them, and restart the node (docs/cluster.md, Prepare the nodes).');
}

function judgeTransactions(nodes: readonly Reached[]): Verdict {
  const waiting = nodes.filter(({ report }) => report.inDoubt > 0);
  if (waiting.length === 0) return ok('none is in doubt');
  return failed(
    `${waiting.map(({ name, report }) => `${name} has ${report.inDoubt}`).join(', ')} prepared for more than ${preparedSecondsMax / 60} minutes: their locks block their spaces`,
    'Run SELECT recover_prepared_transactions() on the coordinator (docs/cluster.md, In-doubt transactions).',
  );
}
