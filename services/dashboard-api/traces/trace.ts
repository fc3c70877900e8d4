import { z } from 'zod';
import type { Database } from '../../../store/db/database.ts';
import { EventTextsTooLargeError, readEventTexts } from '../../../store/segments/read.ts';
import { readTraceLag } from '../../../store/traces/unresolved-traces.ts';
import { listedEvent, showEvents } from '../events/listed-event.ts';
import { letOthersRun, mapInSlices } from '../slices.ts';
import type { SpaceRows, SpaceTexts } from '../space-data.ts';
import { readCalledTools } from './called-tools.ts';
import {
  toolCallCharsMax,
  toolCallEventsMax,
  toolCallSliceChars,
  toolCallsPerEventMax,
  traceEventsMax,
  traceSpanCharsMax,
} from './limits.ts';
import { findNamedSpans } from './named-spans.ts';
import { findParents, namedParentOf, parent } from './parents.ts';
import { readSpanRelations, traceSpan } from './spans.ts';
import { findGaps, findLanes, findOverlaps, interval, lane, overlap } from './timeline.ts';
import { readTraceRows, type TraceRow, takeWithin } from './trace-events.ts';

const traceEvent = listedEvent
  .extend({
    parent: parent.nullable(),
    /** An event or a span that the client named, if the trace does not have it (yet). */
    missingParentId: z.string().nullable(),
    /** The id of the event or span above that the client named. */
    above: z.string().nullable(),
  })
  .meta({ id: 'TraceEvent' });
export type TraceEvent = z.infer<typeof traceEvent>;

export const trace = z
  .object({
    /** In time order: by start, longer events first. */
    events: z.array(traceEvent),
    /** Spans of OpenTelemetry (agents, workflows, chains, retrievers, embeddings), or named by events. */
    spans: z.array(traceSpan),
    eventsMax: z.number(),
    /** Whether no event or span is left out, and none cut. Otherwise the newest events are shown. */
    isComplete: z.boolean(),
    /** False when some tool calls were not read: then some inferred parents are missing. */
    areToolCallsComplete: z.boolean(),
    /** How long new spans or events have waited to be related to the others; null when all are. */
    unresolvedMs: z.number().nullable(),
    /** Whether the trace has more spans than are related to each other. */
    hasTooManySpans: z.boolean(),
    /** By agent group, agent and thread, each ordered by first start. */
    lanes: z.array(lane),
    /** Spans in which no event ran. */
    gaps: z.array(interval),
    /** Spans in which several events without children ran. */
    overlaps: z.array(overlap),
  })
  .meta({ id: 'Trace' });
export type Trace = z.infer<typeof trace>;

/** @returns undefined when no event of the space has this trace. */
export async function readTrace(
  { database, spaceId, openingLimiter }: SpaceTexts,
  traceId: string,
): Promise<Trace | undefined> {
  // Limited, because it reads the text of events.
  return openingLimiter(() => openTrace({ database, spaceId }, traceId));
}

async function openTrace({ database, spaceId }: SpaceRows, traceId: string): Promise<Trace | undefined> {
  const { rows, isComplete } = await readTraceRows(database, spaceId, traceId);
  if (rows.length === 0) return undefined;
  const [toolCalls, shown, lag] = await Promise.all([
    readToolCalls(database, spaceId, rows),
    showEvents(database, spaceId, rows.map(listedOf)),
    readTraceLag(database, spaceId, traceId),
  ]);
  const ids = new Set(rows.map(({ id }) => id));
  const relations = await readSpanRelations(database, spaceId, { traceId, eventIds: ids });
  const parents = findParents(rows, toolCalls.names, (row) => {
    const known = relations.of(row.id);
    // Null: OpenTelemetry tells that no event is above.
    return known === undefined || known.missingSpanId !== undefined
      ? (known?.parentEventId ?? namedParentOf(row))
      : (known.parentEventId ?? null);
  });
  await letOthersRun();
  const named = findNamedSpans(rows);
  const all = [...relations.spans, ...named.spans];
  const spans = takeWithin(all, traceSpanCharsMax);
  const inner = new Set([...parents.values()].map(({ id }) => id));
  const timeline = {
    lanes: findLanes(rows, spans),
    gaps: findGaps(rows),
    overlaps: findOverlaps(rows.filter(({ id }) => !inner.has(id))),
  };
  const events = await mapInSlices(shown, (event, place): TraceEvent => {
    const row = rows[place];
    const parentId = row && namedParentOf(row);
    const known = relations.of(event.id);
    const missing = parentId === undefined || ids.has(parentId) ? undefined : parentId;
    return {
      ...event,
      parent: parents.get(event.id) ?? null,
      missingParentId: (known === undefined ? missing : known.missingSpanId) ?? null,
      above: known?.above ?? named.above.get(event.id) ?? null,
    };
  });
  return {
    events,
    spans,
    eventsMax: traceEventsMax,
    isComplete: isComplete && spans.length === all.length,
    areToolCallsComplete: toolCalls.isComplete,
    ...lag,
    ...timeline,
  };
}

function listedOf({ segmentId: _segment, segmentIndex: _index, attributes: _attributes, ...row }: TraceRow) {
  return row;
}

export interface ToolCalls {
  /** The names of the tools that each LLM event called, by event id. */
  names: Map<string, string[]>;
  /** False when calls were left out, as of many or large LLM events, or one with very many calls. */
  isComplete: boolean;
}

/** Calls are only in texts, so of LLM events only those that are followed by a tool event are read. */
async function readToolCalls(
  database: Database,
  spaceId: string,
  rows: readonly TraceRow[],
): Promise<ToolCalls> {
  const lastTool = rows.findLastIndex(({ type }) => type === 'tool');
  const asked = rows.filter(({ type }, place) => type === 'llm' && place < lastTool);
  const read = asked.slice(0, toolCallEventsMax);
  try {
    const texts = await readEventTexts(database, spaceId, read, { charsMax: toolCallCharsMax });
    const found: ToolCalls = { names: new Map(), isComplete: read.length === asked.length };
    let scannedChars = 0;
    for (const [place, { id }] of read.entries()) {
      const text = texts[place] ?? '';
      if (scannedChars > 0 && scannedChars + text.length > toolCallSliceChars) {
        await letOthersRun();
        scannedChars = 0;
      }
      scannedChars += text.length;
      const { names, isComplete } = readCalledTools(text, toolCallsPerEventMax);
      found.names.set(id, names);
      found.isComplete &&= isComplete;
    }
    return found;
  } catch (error) {
    if (error instanceof EventTextsTooLargeError) return { names: new Map(), isComplete: false };
    throw error;
  }
}
