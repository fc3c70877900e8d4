import { getTableColumns } from 'drizzle-orm';
import { asStored } from '../../event/text.ts';
import { traceNodes } from '../db/schema.ts';

/** A span as the queue carries it: a row of `trace_nodes` without its space and its time of receipt. */
export type TraceNode = Omit<typeof traceNodes.$inferInsert, 'spaceId' | 'receivedAt' | 'removedEventId'>;

/** The same, and whether its request has another span of its call, or several calls that it sums up. */
export type SentNode = TraceNode & { readonly isSurplus?: boolean };

/** The member of a queued node that says so. */
export const surplusName = 'is_surplus';

const {
  spaceId: _space,
  receivedAt: _received,
  removedEventId: _removed,
  ...columns
} = getTableColumns(traceNodes);

/** The columns that the queue carries. */
export const nodeColumns: { readonly [Name in keyof TraceNode]-?: (typeof columns)[Name] } = columns;

/** Most characters of JSON in one message, of up to three bytes: a message has at most 8 MiB. */
const jsonCharsMax = 1024 * 1024;

/**
 * Most characters of the nodes of one request. Real requests have some 200 a span; a long name in a span at
 * the top of 32,768 others would be in each of them. Further nodes are left out: their events keep what their
 * own request named.
 */
const requestCharsMax = 16 * 1024 * 1024;

/** The nodes as JSON arrays for weir.queue.v1.TraceNodes. Texts are shortened like columns. */
export function encodeNodes(nodes: readonly SentNode[]): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let chars = 0;
  let allChars = 0;
  for (const node of nodes) {
    const json = encodeNode(node);
    allChars += json.length;
    if (allChars > requestCharsMax) break;
    if (chars + json.length > jsonCharsMax && open.length > 0) {
      chunks.push(`[${open.join()}]`);
      open = [];
      chars = 0;
    }
    open.push(json);
    chars += json.length + 1;
  }
  if (open.length > 0) chunks.push(`[${open.join()}]`);
  return chunks;
}

function encodeNode(node: SentNode): string {
  const members: Record<string, string | number | boolean> = node.isSurplus ? { [surplusName]: true } : {};
  for (const name of Object.keys(nodeColumns) as (keyof TraceNode)[]) {
    const value = node[name];
    if (value === undefined || value === null) continue;
    members[nodeColumns[name].name] = typeof value === 'string' ? asStored(value) : value;
  }
  return JSON.stringify(members);
}
