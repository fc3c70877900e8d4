import { parseEscapedKeys } from './json/parse-escaped-keys.ts';
import { TermCollector, type TermColumn, termColumns } from './terms.ts';

/** Reads the text of an event's column; undefined is NULL. */
export type ReadColumnText = (name: TermColumn | 'attributes') => string | undefined;

/** Equal to those computed from the JSON; `inSpace` is not applied. */
export function termsOfColumns(events: Iterable<ReadColumnText>): bigint[] {
  const collector = new TermCollector();
  for (const readText of events) {
    const isError = readText('state') === 'error';
    for (const name of termColumns) {
      const value = readText(name);
      if (value !== undefined) collector.addColumn(name, value, isError);
    }
    for (const [key, value] of Object.entries(parseAttributes(readText('attributes')))) {
      collector.addAttribute(key, String(value), isError);
    }
  }
  return collector.finish();
}

function parseAttributes(json: string | undefined): object {
  try {
    const parsed: unknown = parseEscapedKeys(Buffer.from(json ?? '{}'));
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    // Postgres rejects this column, and the event goes to quarantine.
    return {};
  }
}
