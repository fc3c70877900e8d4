import { type ReadColumnText, termsOfColumns } from '../../event/column-terms.ts';
import { columnNames } from '../../event/columns.ts';
import { inSpace } from '../../event/terms.ts';
import { splitElements, unquoteElement } from '../../event/text.ts';
import type { Part } from '../../platform/queue/group.ts';

/**
 * The terms of a part's segment, as the inside of an array literal. A part without terms, for example one
 * that was cut out of another, has them computed from its columns.
 * @param part well-formed.
 */
export function termsOfPart(part: Part): string {
  return part.terms || computeTerms(part);
}

function computeTerms({ spaceId, eventCount, columns }: Part): string {
  const elements = new Map(columnNames.map((name) => [name, splitElements(columns?.[name] ?? '')]));
  const events = Array.from(
    { length: eventCount },
    (_, at): ReadColumnText =>
      (name) =>
        unquoteElement(elements.get(name)?.[at]),
  );
  return inSpace(spaceId, termsOfColumns(events)).join(',');
}
