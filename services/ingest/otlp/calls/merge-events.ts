import type { Json } from '../../read/protobuf-struct.ts';
import type { Members } from '../mapping/json-members.ts';
import { isMembers } from '../mapping/messages/messages.ts';
import { setMember } from '../spans/attributes.ts';

/** Another event of the same call, and the id of its span. */
export interface OtherEvent {
  readonly event: Members;
  readonly spanId: string;
}

/**
 * Merges the events that describe one model call: ids, times and state come from the first, everything else is the union. For
 * input, output and usage the largest comes first, and the others add what it lacks.
 *
 * @param others from the nearest span to the farthest.
 */
export function mergeEvents(first: Members, others: readonly OtherEvent[]): Members {
  if (others.length === 0) return first;
  const all = [first, ...others.map(({ event }) => event)];
  const partsOf = (name: string) => all.map((event) => membersOf(event[name]));
  const merged = others.map(({ spanId }) => spanId).join(',');
  return {
    ...first,
    status: mergeStatus(partsOf('status')),
    instrumentation: mergeInstrumentation(partsOf('instrumentation')),
    context: union(partsOf('context')),
    additionalProperties: { ...union(partsOf('additionalProperties')), 'otel.merged_span_ids': merged },
    properties: { llm: mergePayloads(partsOf('properties').map(({ llm }) => membersOf(llm))) },
  };
}

function mergePayloads(payloads: readonly Members[]): Members {
  const merged = union(payloads);
  for (const name of ['input', 'output', 'usage']) {
    const parts = payloads.map((payload) => membersOf(payload[name]));
    // The sort is stable: of parts with the same size the first one wins.
    const byFullness = parts.map((part) => ({ part, size: sizeOf(part) })).sort((a, b) => b.size - a.size);
    const whole = union(byFullness.map(({ part }) => part));
    if (Object.keys(whole).length > 0) merged[name] = whole;
  }
  const [own, ...others] = payloads.map(({ otel }) => membersOf(otel));
  merged.otel = { ...own, merged: others };
  return merged;
}

/** The innermost span determines whether the call failed. The reason may come from another span. */
function mergeStatus(statuses: readonly Members[]): Members {
  const [own = {}] = statuses;
  if (own.state !== 'error') return own;
  const error = union(statuses.map((status) => membersOf(status.error)));
  return Object.keys(error).length === 0 ? own : { ...own, error };
}

/** A source that equals the package name is a guess: prefer a span that names its provider. */
function mergeInstrumentation(instrumentations: readonly Members[]): Members {
  const [own = {}] = instrumentations;
  const known = instrumentations.find(({ source, sourcePackage }) => source !== sourcePackage);
  return known === undefined ? own : { ...own, source: known.source ?? null };
}

/** All members, each from the first object that has it. */
function union(objects: readonly Members[]): Members {
  const merged: Members = {};
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

function membersOf(json: Json | undefined): Members {
  return isMembers(json) ? { ...json } : {};
}
