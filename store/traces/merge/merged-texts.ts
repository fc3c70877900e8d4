import type { IngestEvent } from '../../../event/event.ts';
import { parseExactJson, stringifyExact } from '../../../event/json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../../event/json/json-value.ts';
import type { EventRange } from '../../../event/segment/cut.ts';
import { bodyBytesMax } from '../../../platform/limits.ts';
import { parentProperty } from '../parent-events.ts';
import { dropParts, mergeEvents, type OtherEvent } from './merge-events.ts';
import { shortenEvent } from './shorten-event.ts';

export interface MergedEvent {
  readonly event: IngestEvent;
  readonly text: string;
}

/** Reads an event of a segment with all digits. @throws Error when it is missing or erased. */
export function readExactEvent(segment: Buffer, range: EventRange | undefined): JsonObject {
  if (range === undefined) throw new Error('a segment does not have an event');
  const json = parseExactJson(segment.toString('utf8', range.start, range.end), range.hasEscapedKey);
  if (!isJsonObject(json)) throw new Error('an event of a segment is erased');
  return json;
}

/**
 * Merges stored events of one call. Its parent is no longer one of them, but the parent of the outermost.
 * @param stored the event of the call.
 * @param changes `others`: from the nearest to the outermost. `dropped`: spans that were merged, and do not
 * describe the call.
 */
export function mergeStored(
  stored: JsonObject,
  { others, dropped }: { others: readonly OtherEvent[]; dropped: ReadonlySet<string> },
): MergedEvent {
  const first = dropped.size === 0 ? stored : dropParts(stored, dropped);
  const merged = [first, ...others.map(({ event }) => event)];
  const ids = new Set(merged.map(({ id }) => id));
  for (const event of merged) dropParent(event, ids);
  const event = mergeEvents(first, others);
  let text = stringifyExact(event);
  if (Buffer.byteLength(text) > bodyBytesMax) {
    shortenEvent(event, bodyBytesMax);
    text = stringifyExact(event);
  }
  // Valid events make a valid event: each member comes from one of them.
  return { event: event as unknown as IngestEvent, text };
}

function dropParent(event: JsonObject, ids: ReadonlySet<unknown>): void {
  const { additionalProperties } = event;
  if (!isJsonObject(additionalProperties) || !ids.has(additionalProperties[parentProperty])) return;
  const { [parentProperty]: _, ...others } = additionalProperties;
  event.additionalProperties = others;
}
