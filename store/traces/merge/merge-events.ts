import { type Json, type JsonObject, setMember } from '../../../event/json/json-value.ts';
import { isOfLogMessages, joinLogMessages, sortLogParts } from './log-messages.ts';
import { describePart, membersOf, mergedIdsName, partsOf, type Sections, type SpanPart } from './parts.ts';

/** Another event of the same call, and the id of its span. */
export interface OtherEvent {
  readonly event: JsonObject;
  readonly spanId: string;
}

/**
 * Merges the events that describe one call: ids, times and state come from the first, everything else is the
 * union. For input, output and usage the largest comes first, and the others add what it lacks.
 * @param others from the nearest span to the farthest.
 */
export function mergeEvents(first: JsonObject, others: readonly OtherEvent[]): JsonObject {
  if (others.length === 0) return first;
  const own = partsOf(first);
  const added = others.map(({ event, spanId }) => ({ event, parts: partsOf(event, spanId) }));
  const isOfLogs = own.every(isOfLogMessages);
  const spans = added.filter(({ parts }) => isOfLogs || !parts.every(isOfLogMessages));
  const whole = withEndOf(
    first,
    spans.map(({ event }) => event),
    isOfLogs,
  );
  return mergeParts(whole, sortLogParts([...own, ...added.flatMap(({ parts }) => parts)]));
}

/**
 * A span that begins after the first one has ended continues the call: it read the stream. Log records of a
 * call end with the last one.
 */
function withEndOf(first: JsonObject, others: readonly JsonObject[], isOfLogs: boolean): JsonObject {
  const { startTimeMs, endTimeMs, type } = first;
  // The clock of a tool's server may be wrong.
  if (type === 'tool') return first;
  if (typeof startTimeMs !== 'number' || typeof endTimeMs !== 'number') return first;
  const ends = others.flatMap(({ startTimeMs: start, endTimeMs: end }) => {
    if (typeof start !== 'number' || typeof end !== 'number') return [];
    return (isOfLogs && end > endTimeMs) || (start >= endTimeMs && end > start) ? [end] : [];
  });
  const last = Math.max(...ends);
  return ends.length === 0 ? first : { ...first, endTimeMs: last, durationMs: last - startTimeMs };
}

/** The event without the parts of these spans, which turned out not to describe its call. */
export function dropParts(event: JsonObject, spanIds: ReadonlySet<string>): JsonObject {
  const [own, ...others] = partsOf(event);
  return own === undefined
    ? event
    : mergeParts(event, [own, ...others.filter(({ spanId }) => !spanIds.has(spanId))]);
}

function mergeParts(first: JsonObject, parts: readonly SpanPart[]): JsonObject {
  const [own, ...others] = parts;
  if (own === undefined) throw new Error('an event has no part');
  const whole = mergeSections(parts);
  const { status, instrumentation, context, input, output, usage } = whole;
  const type = first.type === 'tool' ? 'tool' : 'llm';
  const ids = [...own.mergedIds, ...others.flatMap((part) => [part.spanId, ...part.mergedIds])].join(',');
  const additionalProperties = { ...whole.additionalProperties, ...(ids !== '' && { [mergedIdsName]: ids }) };
  const payload: JsonObject = { ...whole[type] };
  for (const [name, section] of Object.entries({ input, output, usage }))
    if (Object.keys(section).length > 0) payload[name] = section;
  payload.otel = others.length === 0 ? own.otel : describeParts(own, others, whole);
  return {
    ...first,
    status,
    instrumentation,
    context,
    additionalProperties,
    properties: { [type]: payload },
  };
}

function describeParts(own: SpanPart, others: readonly SpanPart[], whole: Sections): JsonObject {
  const describe = (part: SpanPart): JsonObject => ({ ...part.otel, part: describePart(part, whole) });
  return { ...describe(own), merged: [...listOf(own.otel.merged), ...others.map(describe)] };
}

function mergeSections(parts: readonly SpanPart[]): Sections {
  const sectionsOf = (name: keyof Sections) => parts.map(({ sections }) => sections[name]);
  return {
    status: mergeStatus(sectionsOf('status')),
    instrumentation: mergeInstrumentation(sectionsOf('instrumentation')),
    context: union(sectionsOf('context')),
    additionalProperties: union(sectionsOf('additionalProperties')),
    llm: union(sectionsOf('llm')),
    tool: union(sectionsOf('tool')),
    input: union(byFullness(joinLogMessages('input', parts))),
    output: union(byFullness(joinLogMessages('output', parts))),
    usage: union(byFullness(sectionsOf('usage'))),
  };
}

/** The sort is stable: of parts with the same size the first one wins. */
function byFullness(sections: readonly JsonObject[]): readonly JsonObject[] {
  const parts = sections.filter((section) => Object.keys(section).length > 0);
  if (parts.length < 2) return parts;
  const sized = parts.map((part) => ({ part, size: JSON.stringify(part).length }));
  return sized.sort((a, b) => b.size - a.size).map(({ part }) => part);
}

function listOf(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}

/** The innermost span determines whether the call failed. The reason may come from another span. */
function mergeStatus(statuses: readonly JsonObject[]): JsonObject {
  const [own = {}] = statuses;
  if (own.state !== 'error') return own;
  const error = union(statuses.map((status) => membersOf(status.error)));
  return Object.keys(error).length === 0 ? own : { ...own, error };
}

/** A source that equals the package name is a guess: prefer a span that names its provider. */
function mergeInstrumentation(instrumentations: readonly JsonObject[]): JsonObject {
  const [own = {}] = instrumentations;
  const known = instrumentations.find(({ source, sourcePackage }) => source !== sourcePackage);
  return known === undefined ? own : { ...own, source: known.source ?? null };
}

/** All members, each from the first object that has it. */
function union(objects: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {};
  for (const object of objects) {
    for (const [name, value] of Object.entries(object)) {
      if (!Object.hasOwn(merged, name)) setMember(merged, name, value);
    }
  }
  return merged;
}
