import { eventBytesMax } from '../limits.ts';
import { findBuiltin } from '../runtime/platform.ts';

const encoder = new TextEncoder();

/** Fields that docs/api.md §2 types as strings: their replacement must be a string, too. */
const stringFields = new Set(['system', 'prompt', 'response', 'message', 'mode', 'model']);

interface Place {
  holder: Record<string, unknown>;
  key: string;
  text: string;
  /** Whether docs/api.md §2 requires a string here. */
  isString: boolean;
}

/**
 * Truncates an event that is larger than a request: replaces its largest strings by `{ truncated, bytes,
 * sha256 }`, as an object, or as JSON text where docs/api.md §2 requires a string.
 *
 * @param text the JSON of the event.
 * @returns the JSON of the truncated event, or undefined if it is still too large. A promise on platforms
 * that hash only asynchronously: browsers and the edge.
 */
export function truncateEvent(
  text: string,
  bytesMax: number = eventBytesMax,
): Uint8Array | undefined | Promise<Uint8Array> {
  const event: Record<string, unknown> = JSON.parse(text);
  const places: Place[] = [];
  // Keep the identifying fields: without them Weir would reject the event.
  collectStrings(event.properties, places, (key) => stringFields.has(key));
  for (const part of ['status', 'additionalProperties']) collectStrings(event[part], places, () => true);
  places.sort((a, b) => a.text.length - b.text.length);
  const replaced: Place[] = [];
  let bytes = encoder.encode(text);
  while (bytes.length > bytesMax) {
    const largest = places.pop();
    if (largest === undefined || largest.text.length < 256) return undefined;
    replace(largest, unknownHash);
    replaced.push(largest);
    bytes = encoder.encode(JSON.stringify(event));
  }
  const compose = (hashes: readonly string[]) => {
    for (const [index, place] of replaced.entries()) replace(place, hashes[index] ?? unknownHash);
    return encoder.encode(JSON.stringify(event));
  };
  const contents = replaced.map((place) => encoder.encode(place.text));
  const crypto = findBuiltin<NodeCrypto>('node:crypto');
  if (crypto === undefined) return Promise.all(contents.map(digest)).then(compose);
  return compose(contents.map((content) => crypto.createHash('sha256').update(content).digest('hex')));
}

interface NodeCrypto {
  createHash(name: string): { update(bytes: Uint8Array): { digest(format: 'hex'): string } };
}

/** As long as a hash: the size of an event is known before its hashes are. */
const unknownHash = '0'.repeat(64);

function replace({ holder, key, text, isString }: Place, sha256: string): void {
  const stub = { truncated: true, bytes: encoder.encode(text).length, sha256 };
  holder[key] = isString ? JSON.stringify(stub) : stub;
}

async function digest(content: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', content));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function collectStrings(value: unknown, places: Place[], isString: (key: string) => boolean): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const key of Object.keys(holder)) {
    const member = holder[key];
    if (typeof member === 'string') places.push({ holder, key, text: member, isString: isString(key) });
    else collectStrings(member, places, isString);
  }
}
