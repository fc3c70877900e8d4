import type { IngestEvent } from './event.ts';
import { attributesCharsMax } from './limits.ts';
import { storableText } from './text.ts';

/** The additional property with the id of the event's span, which each event of OpenTelemetry has. */
export const spanProperty = 'otel.span_id';

type Properties = IngestEvent['additionalProperties'];

export interface KeptAttributes {
  readonly json: string;
  readonly entries: Properties;
}

/**
 * Selects the additional properties that are stored as a column: as many as fit into {@link
 * attributesCharsMax} of JSON, the shortest first. Filters find only these; the segment has all.
 * @returns undefined when nothing is kept.
 */
export function keepAttributes(properties: Properties): KeptAttributes | undefined {
  const json = JSON.stringify(properties);
  if (json === '{}') return undefined;
  if (json.length > attributesCharsMax) {
    const entries = fittingEntries(properties);
    const fitting = toJson(entries, JSON.stringify(entries));
    return fitting === '{}' ? undefined : { json: fitting, entries };
  }
  return { json: toJson(properties, json), entries: properties };
}

/** Takes two passes and no array of entries: 4 MiB can have half a million, beyond a worker's memory. */
function fittingEntries(properties: Properties): Properties {
  const counts = new Uint32Array(attributesCharsMax);
  for (const key in properties) {
    const chars = entryChars(key, properties[key]);
    if (chars < counts.length) counts[chars] = (counts[chars] ?? 0) + 1;
  }
  // Two braces, and a comma fewer than entries.
  let left = attributesCharsMax - 1;
  let longest = 0;
  for (; longest < counts.length && (counts[longest] ?? 0) * longest <= left; longest++) {
    left -= (counts[longest] ?? 0) * longest;
  }
  const entries: [string, string | number][] = [];
  for (const key in properties) {
    const value = properties[key];
    const chars = entryChars(key, value);
    if (value === undefined || chars > longest || (chars === longest && chars > left)) continue;
    if (chars === longest) left -= chars;
    entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** The length of an entry in JSON, with its colon and comma. */
function entryChars(key: string, value: string | number | undefined): number {
  return JSON.stringify(key).length + JSON.stringify(value ?? '').length + 2;
}

function toJson(entries: Properties, json: string): string {
  // Postgres rejects U+0000 and lone surrogates in JSON: JSON.stringify escapes both by `\u`.
  return json.includes('\\u') ? JSON.stringify(storableEntries(entries)) : json;
}

function storableEntries(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      storableText(key),
      typeof value === 'string' ? storableText(value) : value,
    ]),
  );
}
