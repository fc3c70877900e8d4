import { eventBytesMax } from '../limits.ts';

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
 * Truncates an event that is larger than a request: replaces its largest strings by `{ truncated, bytes, sha256 }`, as an
 * object, or as JSON text where docs/api.md §2 requires a string.
 *
 * @param text the JSON of the event.
 * @returns the JSON of the truncated event, or undefined if it is still too large.
 */
export async function truncateEvent(
  text: string,
  bytesMax: number = eventBytesMax,
): Promise<Uint8Array | undefined> {
  const event: Record<string, unknown> = JSON.parse(text);
  const places: Place[] = [];
  // Keep the identifying fields: without them Weir would reject the event.
  collectStrings(event.properties, places, (key) => stringFields.has(key));
  for (const part of ['status', 'additionalProperties']) collectStrings(event[part], places, () => true);
  places.sort((a, b) => a.text.length - b.text.length);
  let bytes = encoder.encode(text);
  while (bytes.length > bytesMax) {
    const largest = places.pop();
    if (largest === undefined || largest.text.length < 256) return undefined;
    await replace(largest);
    bytes = encoder.encode(JSON.stringify(event));
  }
  return bytes;
}

async function replace({ holder, key, text, isString }: Place): Promise<void> {
  const content = encoder.encode(text);
  const digest = await crypto.subtle.digest('SHA-256', content);
  const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const stub = { truncated: true, bytes: content.length, sha256 };
  holder[key] = isString ? JSON.stringify(stub) : stub;
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
