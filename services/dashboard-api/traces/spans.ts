import { and, asc, eq, gt, or } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../../store/db/database.ts';
import { traceNodes } from '../../../store/db/schema.ts';
import { traceRowsAtOnce, traceSpansMax } from './limits.ts';

const shownKinds = ['agent', 'workflow', 'chain', 'retriever', 'embedding'] as const;

/** A span that is no event: of OpenTelemetry (ADR 27), or, with the kind `span`, named by events (ADR 17). */
export const traceSpan = z
  .object({
    /** The id of the span, in hexadecimal. */
    id: z.string(),
    kind: z.enum([...shownKinds, 'span']),
    name: z.string(),
    state: z.enum(traceNodes.state.enumValues),
    startTimeMs: z.number(),
    endTimeMs: z.number(),
    agentGroupId: z.string().nullable(),
    agentId: z.string().nullable(),
    threadId: z.string().nullable(),
    /** The id of the event or span above. */
    above: z.string().nullable(),
  })
  .meta({ id: 'TraceSpan' });
export type TraceSpan = z.infer<typeof traceSpan>;

/** What the spans of a trace tell about its events. */
export interface SpanRelations {
  readonly spans: readonly TraceSpan[];
  /** What is above an event; undefined unless its span is known. */
  of(eventId: string): EventPlace | undefined;
}

export interface EventPlace {
  readonly parentEventId: string | undefined;
  /** The id of the nearest event or shown span above. */
  readonly above: string | null;
  /** The id of a span above that has not arrived. */
  readonly missingSpanId: string | undefined;
}

/** `beyond`: the place of the span whose event is the parent. */
type NodePlace = EventPlace & { readonly beyond?: NodePlace };

const nowhere: EventPlace = { parentEventId: undefined, above: null, missingSpanId: undefined };

type Node = Awaited<ReturnType<typeof readNodePage>>[number];

/** @param eventIds the events that are shown. */
export async function readSpanRelations(
  database: Database,
  spaceId: string,
  { traceId, eventIds }: { traceId: string; eventIds: ReadonlySet<string> },
): Promise<SpanRelations> {
  const nodes = await readNodes(database, spaceId, traceId);
  return relateSpans(nodes, eventIds);
}

async function readNodes(database: Database, spaceId: string, traceId: string): Promise<Node[]> {
  const nodes: Node[] = [];
  while (nodes.length < traceSpansMax) {
    const page = await readNodePage(database, spaceId, { traceId, after: nodes.at(-1) });
    nodes.push(...page);
    if (page.length < traceRowsAtOnce) break;
  }
  return nodes;
}

function readNodePage(
  database: Database,
  ofSpace: string,
  {
    traceId: ofTrace,
    after,
  }: { traceId: string; after: { spanId: string; startTimeMs: number } | undefined },
) {
  const { spaceId, traceId, spanId, startTimeMs } = traceNodes;
  const isAfter =
    after &&
    or(gt(startTimeMs, after.startTimeMs), and(eq(startTimeMs, after.startTimeMs), gt(spanId, after.spanId)));
  return database
    .select({
      ...pick(traceNodes, 'spanId', 'startTimeMs', 'endTimeMs', 'parentSpanId', 'kind', 'name', 'state'),
      ...pick(traceNodes, 'agentId', 'threadId', 'eventId', 'mergedEventId'),
    })
    .from(traceNodes)
    .where(and(eq(spaceId, ofSpace), eq(traceId, ofTrace), isAfter))
    .orderBy(asc(startTimeMs), asc(spanId))
    .limit(traceRowsAtOnce);
}

function relateSpans(nodes: readonly Node[], eventIds: ReadonlySet<string>): SpanRelations {
  const places = new Places(nodes, eventIds);
  const byEvent = new Map(nodes.map((node) => [node.eventId, node]));
  return {
    spans: nodes.flatMap((node): TraceSpan[] => {
      if (!isShown(node)) return [];
      const { spanId, kind, name, state, startTimeMs, endTimeMs, agentId, threadId } = node;
      const { above } = places.of(node);
      const lane = { agentGroupId: null, agentId, threadId };
      return [{ id: spanId, kind, name, state, startTimeMs, endTimeMs, ...lane, above }];
    }),
    of(eventId) {
      const node = byEvent.get(eventId);
      return node && places.of(node);
    },
  };
}

/** The places of spans. They are kept, so that long chains cost little. */
class Places {
  readonly #bySpan: ReadonlyMap<string, Node>;
  readonly #eventIds: ReadonlySet<string>;
  readonly #known = new Map<string, NodePlace>();

  constructor(nodes: readonly Node[], eventIds: ReadonlySet<string>) {
    this.#bySpan = new Map(nodes.map((node) => [node.spanId, node]));
    this.#eventIds = eventIds;
  }

  of(start: Node): NodePlace {
    const path = new Set<Node>();
    let place: NodePlace = nowhere;
    for (let node: Node | undefined = start; node !== undefined && !path.has(node); ) {
      const known = this.#known.get(node.spanId);
      if (known !== undefined) {
        place = known;
        break;
      }
      path.add(node);
      const { parentSpanId }: Node = node;
      node = this.#bySpan.get(parentSpanId ?? '');
      if (node === undefined && parentSpanId !== null) place = { ...nowhere, missingSpanId: parentSpanId };
    }
    // From the top down: each span sees the one above it.
    for (const node of [...path].toReversed()) {
      place = this.#below(place, node);
      this.#known.set(node.spanId, place);
    }
    return place;
  }

  /** The place of a span, by that of the one above it. */
  #below(ofAbove: NodePlace, node: Node): NodePlace {
    let place = ofAbove;
    const above = this.#bySpan.get(node.parentSpanId ?? '');
    if (above !== undefined && above !== node) {
      const eventId = eventOf(above);
      // What is above the nearest event concerns that event.
      if (eventId !== null && this.#eventIds.has(eventId))
        place = { ...nowhere, parentEventId: eventId, above: eventId, beyond: place };
      else if (isShown(above)) place = { ...place, above: above.spanId };
    }
    // Spans of its own call are not above an event.
    while (place.beyond !== undefined && place.parentEventId === eventOf(node)) place = place.beyond;
    return place;
  }
}

/** The event that a span is, or is part of. */
function eventOf({ eventId, mergedEventId }: Node): string | null {
  return eventId ?? mergedEventId;
}

/** Links connect other spans; a span without a name was erased. */
function isShown(node: Node): node is Node & { kind: (typeof shownKinds)[number]; name: string } {
  return node.name !== null && shownKinds.some((kind) => kind === node.kind);
}
