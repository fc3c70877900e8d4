import { isJsonObject, type Json, type JsonObject, setMember } from '../../json/json-value.ts';

/** Another event of the same call, and the id of its span. */
export interface OtherEvent {
  readonly event: JsonObject;
  readonly spanId: string;
}

/**
 * Merges the events that describe one model call: ids, times and state come from the first, everything else is the union. For
 * input, output and usage the largest comes first, and the others add what it lacks.
 *
 * @param others from the nearest span to the farthest.
 */
export function mergeEvents(first: JsonObject, others: readonly OtherEvent[]): JsonObject {
  if (others.length === 0) return first;
  const all = [first, ...others.map(({ event }) => event)];
  const partsOf = (name: string) => all.map((event) => membersOf(event[name]));
  const merged = [...idsOf(first), ...others.flatMap(({ event, spanId }) => [spanId, ...idsOf(event)])];
  return {
    ...first,
    status: mergeStatus(partsOf('status')),
    instrumentation: mergeInstrumentation(partsOf('instrumentation')),
    context: union(partsOf('context')),
    additionalProperties: { ...union(partsOf('additionalProperties')), [mergedIds]: merged.join(',') },
    properties: { llm: mergePayloads(partsOf('properties').map(({ llm }) => membersOf(llm))) },
  };
}

function mergePayloads(payloads: readonly JsonObject[]): JsonObject {
  const merged = union(payloads);
  for (const name of ['input', 'output', 'usage']) {
    const parts = payloads.map((payload) => membersOf(payload[name]));
    // The sort is stable: of parts with the same size the first one wins.
    const byFullness = parts.map((part) => ({ part, size: sizeOf(part) })).sort((a, b) => b.size - a.size);
    const whole = union(byFullness.map(({ part }) => part));
    if (Object.keys(whole).length > 0) merged[name] = whole;
  }
  const [own, ...others] = payloads.map(({ otel }) => membersOf(otel));
  merged.otel = { ...own, merged: [...listOf(own?.merged), ...others] };
  return merged;
}

/** The additional property with the ids of the spans that were merged. */
const mergedIds = 'otel.merged_span_ids';

/** The spans that were merged into an event before. */
function idsOf(event: JsonObject): string[] {
  const ids = membersOf(event.additionalProperties)[mergedIds];
  return typeof ids === 'string' && ids !== '' ? ids.split(',') : [];
}

function listOf(json: Json | undefined): Json[] {
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

function sizeOf(json: Json): number {
  return JSON.stringify(json).length;
}

function membersOf(json: Json | undefined): JsonObject {
  return isJsonObject(json) ? { ...json } : {};
}
