import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.ts';
import type { events } from '../db/schema.ts';
import { runCompiled } from '../db/statement.ts';
import { columns } from './change-parameters.ts';
import { changeAll, changeFilled, changeNothing } from './change-statement.ts';

export type EventRow = typeof events.$inferSelect;

type EventKey = { readonly traceId: string; readonly id: string; readonly segmentId: string };

/** A span, and the values that it inherits. */
export interface NodeChange {
  readonly traceId: string;
  readonly spanId: string;
  readonly agentId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly userId?: string | undefined;
  readonly isRemoved?: boolean;
  /** The event is no longer merged into another. */
  readonly isDropped?: boolean;
  /** The event into which it is merged. */
  readonly mergedEventId?: string | undefined;
}

/** An event, and values that its columns get. */
export type EventFill = EventKey & Omit<NodeChange, 'traceId' | 'spanId' | 'mergedEventId' | 'isDropped'>;

/** An event with a new text, and all of its columns. */
export type ReplacedEvent = Omit<EventRow, 'spaceId' | 'receivedAt' | 'attributes'> & {
  /** The attributes as JSON text: a number may have more digits than a double. */
  attributes: string | null;
};

export type RemovedEvent = EventKey & { readonly spanId: string };

export interface SegmentChange {
  readonly id: string;
  /** New terms of the segment, in the space. */
  readonly terms: readonly bigint[];
  readonly edit?: {
    /** SHA-256 of the body that was read, in hexadecimal. */
    readonly hash: string;
    /** In base64. */
    readonly body: string;
    readonly rawBytes: number;
    /** How many of its events are removed, and whether none is left. */
    readonly removed: number;
    readonly isEmpty: boolean;
  };
}

export interface TraceChanges {
  readonly traces: readonly {
    readonly traceId: string;
    /** The version that was read and the next one: of two writers that read the same, one must fail. */
    readonly version: number;
    readonly nextVersion: number;
    /** Whether the changes resolve it. */
    readonly isResolved: boolean;
  }[];
  readonly nodes: readonly NodeChange[];
  readonly fills: readonly EventFill[];
  readonly replaced: readonly ReplacedEvent[];
  readonly removed: readonly RemovedEvent[];
  readonly segments: readonly SegmentChange[];
}

/**
 * Applies the changes of traces that still have the versions that were read, in one statement: columns,
 * texts, terms, usage and statistics change together.
 * @returns false, with nothing changed, if one of the traces or segments was changed or deleted meanwhile.
 */
export async function applyChanges(
  database: Database,
  spaceId: string,
  changes: TraceChanges,
): Promise<boolean> {
  const values: Record<string, string> = {
    space: spaceId,
    traces: toJson(columns.trace, changes.traces),
    nodes: toJson(columns.node, changes.nodes),
    fills: toJson(columns.fill, changes.fills),
    replaced: `[${changes.replaced.map(replacedToJson).join()}]`,
    removed: toJson(columns.removed, changes.removed),
    segments: toJson(
      columns.segment,
      changes.segments.map(({ id, terms, edit }) => ({ id, terms: terms.map(String), ...edit })),
    ),
  };
  const statement = chooseStatement(changes);
  const rows = await runCompiled<{ trace: string }>(database.$client, statement, values);
  return rows.length === changes.traces.length;
}

function chooseStatement({ nodes, fills, replaced, removed }: TraceChanges) {
  if (replaced.length + removed.length > 0) return changeAll;
  return nodes.length + fills.length > 0 ? changeFilled : changeNothing;
}

function replacedToJson(event: ReplacedEvent): string {
  const { attributes, ...others } = event;
  const [json = '{}'] = [toJson(columns.replaced, [others]).slice(1, -1)];
  return attributes === null ? json : `${json.slice(0, -1)},"attributes":${attributes}}`;
}

/** The members of these objects under the names of columns. */
function toJson(named: Readonly<Record<string, PgColumn | string>>, rows: readonly object[]): string {
  const names = Object.entries(named).map(
    ([key, column]) => [key, typeof column === 'string' ? column : column.name] as const,
  );
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map(([key, name]) => [name, Reflect.get(row, key)]))),
  );
}
