import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { storeOnlyNewStatement, storeStatement } from './statement.ts';

interface PlanNode {
  'Node Type': string;
  'CTE Name'?: string;
  Alias?: string;
  'Index Name'?: string;
  'Parent Relationship'?: string;
  Plans?: PlanNode[];
}

/** What has a row for each event, part or space. Each may have hundreds. */
const common = ['event', 'new_ids', 'new_events', 'parts', 'stored_parts', 'commit_number'];
const statements = [
  { name: 'store statement', text: storeStatement.text, inputs: [...common, 'event_1', 'incoming'] },
  { name: 'store statement for new events only', text: storeOnlyNewStatement.text, inputs: common },
];

const resources = new AsyncDisposableStack();
let sql: Sql;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  sql = resources.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 30_000 }),
  );
});
afterAll(() => resources.disposeAsync());

// Postgres does not know how many events and parts a statement has. Nested loops over a thousand events took
// two thirds of its time.
test.each(statements)(
  'the $name has no nested loop, whatever is known of deleted spaces',
  async ({ text, inputs }) => {
    const expectNone = async () => expect(await findNestedLoops(text, inputs)).toEqual([]);
    await sql`DELETE FROM deleted_spaces`;
    await expectNone();
    await sql`ANALYZE deleted_spaces`;
    await expectNone();
    for (let count = 0; count < 3; count++)
      await sql`INSERT INTO deleted_spaces (space_id, name, requested_at, requested_by) VALUES (${randomUUIDv7()}, 'deleted', now(), 'operator')`;
    await sql`ANALYZE deleted_spaces`;
    await expectNone();
  },
);

/** @returns what the nested loops read. */
async function findNestedLoops(statement: string, inputs: string[]): Promise<string[][]> {
  const [row] = await sql.unsafe<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
    `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`,
  );
  const root = row?.['QUERY PLAN'][0]?.Plan;
  if (root === undefined) throw new Error('no plan');
  const nodes = descendantsOf(root, () => true);
  expect(nodes.flatMap(readBy)).toEqual(expect.arrayContaining(inputs));
  return nodes
    .filter((node) => node['Node Type'] === 'Nested Loop' && !isTraceLookup(node))
    .map((loop) => descendantsOf(loop, isInput).flatMap(readBy))
    .filter((read) => read.some((name) => inputs.includes(name)));
}

/** Finds the trace of each event by the primary key, one probe each, instead of reading all traces. */
function isTraceLookup({ Plans: [, inner] = [] }: PlanNode): boolean {
  return inner?.['Node Type'] === 'Index Scan' && inner['Index Name'] === 'traces_space_id_trace_id_pk';
}

function descendantsOf(node: PlanNode, isFollowed: (child: PlanNode) => boolean): PlanNode[] {
  const children = (node.Plans ?? []).filter(isFollowed);
  return [node, ...children.flatMap((child) => descendantsOf(child, isFollowed))];
}

function isInput(child: PlanNode): boolean {
  return !['InitPlan', 'SubPlan'].includes(child['Parent Relationship'] ?? '');
}

function readBy({ 'CTE Name': cte, 'Node Type': type, Alias: alias }: PlanNode): string[] {
  if (type === 'Function Scan' && alias !== undefined) return [alias];
  return cte === undefined ? [] : [cte];
}
