import { createHash } from 'node:crypto';
import { digitsOf } from '../../../event/json/exact-json.ts';
import type { Json, JsonObject } from '../../../event/json/json-value.ts';
import { storeTextsOnce } from './texts-once.ts';

/** Shorter texts are not replaced: the replacement would be as long. */
const shortenedBytesMin = 256;

/** Fields of the payload that docs/api.md §2 types as strings: their replacement is a string, too. */
const stringFields = new Set(['system', 'prompt', 'response', 'message', 'mode', 'model']);

interface Place {
  readonly bytes: number;
  replace(): void;
}

/**
 * Shortens an event that is too large: first each text is stored once (texts-once.ts), which loses nothing;
 * then the largest texts are replaced by `{ truncated, bytes, sha256 }`, as the SDK does. Rejecting the span
 * instead would go unnoticed: exporters do not show rejected spans to their users.
 * @returns the size of its JSON then; the event may still be too large.
 */
export function shortenEvent(event: JsonObject, bytesMax: number): number {
  storeTextsOnce(event);
  const bytes = Buffer.byteLength(JSON.stringify(event));
  if (bytes <= bytesMax) return bytes;
  const places: Place[] = [];
  collect(event.properties ?? null, places, (key) => stringFields.has(key));
  for (const part of ['status', 'additionalProperties']) collect(event[part] ?? null, places, () => true);
  places.sort((a, b) => b.bytes - a.bytes);
  let left = bytes;
  for (const place of places) {
    if (left <= bytesMax || place.bytes < shortenedBytesMin) break;
    place.replace();
    left -= place.bytes - shortenedBytesMin;
  }
  return left;
}

/** @param isString whether the replacement of a member of this name has to be a string. */
function collect(json: Json, places: Place[], isString: (key: string) => boolean): void {
  // The digits of a large number are not a text, and cannot be assigned.
  if (typeof json !== 'object' || json === null || digitsOf(json) !== undefined) return;
  // An array has its indexes for keys.
  const members = json as JsonObject;
  for (const [key, member] of Object.entries(members)) {
    const set = (stub: Json) => {
      members[key] = stub;
    };
    if (typeof member !== 'string') collect(member, places, isString);
    else places.push(placeOf(member, set, isString(key)));
  }
}

function placeOf(text: string, set: (stub: Json) => void, isString: boolean): Place {
  return {
    // The size as JSON, where a quote takes two bytes.
    bytes: Buffer.byteLength(JSON.stringify(text)),
    replace() {
      const content = Buffer.from(text);
      const sha256 = createHash('sha256').update(content).digest('hex');
      const stub = { truncated: true, bytes: content.length, sha256 };
      set(isString ? JSON.stringify(stub) : stub);
    },
  };
}
