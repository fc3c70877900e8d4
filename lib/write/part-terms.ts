import { columnNames } from '../event/columns.ts';
import { inSpace, TermCollector, termColumns } from '../event/terms.ts';
import { splitElements, unquoteElement } from '../event/text.ts';
import { parseEscapedKeys } from '../json/parse-escaped-keys.ts';
import type { Part } from '../queue/group.ts';

/**
 * The terms of each part's segment, as the inside of an array literal. A part that was cut out of another one has none: they are
 * computed from the columns.
 *
 * @param parts well-formed. Those of one segment get the terms of all of them.
 */
export function termsOfParts(parts: readonly Part[]): string[] {
  const bySegment = Map.groupBy(parts, (part) => part.segmentId);
  return parts.map((part) => {
    const siblings = bySegment.get(part.segmentId) ?? [part];
    const terms = new Set(siblings.flatMap((sibling) => sibling.terms || computeTerms(sibling)));
    return [...terms].join(',');
  });
}

function computeTerms({ spaceId, eventCount, columns }: Part): string {
  const elements = new Map(columnNames.map((name) => [name, splitElements(columns?.[name] ?? '')]));
  const readValue = (name: (typeof columnNames)[number], index: number) =>
    unquoteElement(elements.get(name)?.[index]);
  const collector = new TermCollector();
  for (let index = 0; index < eventCount; index++) {
    const isError = readValue('state', index) === 'error';
    for (const name of termColumns) {
      const value = readValue(name, index);
      if (value !== undefined) collector.addColumn(name, value, isError);
    }
    for (const [key, value] of Object.entries(parseAttributes(readValue('attributes', index)))) {
      collector.addAttribute(key, String(value), isError);
    }
  }
  return inSpace(spaceId, collector.finish()).join(',');
}

function parseAttributes(json: string | undefined): object {
  try {
    const parsed: unknown = parseEscapedKeys(Buffer.from(json ?? '{}'));
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    // Postgres refuses it in the column, and the event goes into quarantine.
    return {};
  }
}
