/** The conventions for the attributes of spans, in the order in which their columns are searched. */
export const conventions = ['langfuse', 'genAi', 'openInference', 'vercel', 'openLlmetry'] as const;
export type Convention = (typeof conventions)[number];

/** One field: the attributes of each convention that has it. */
export type Row = Partial<Record<Convention, readonly string[]>>;

declare const compiled: unique symbol;
/** A row of `defineRows`: an AttributeReader finds no value by any other. */
export type CompiledRow = Row & { readonly [compiled]: true };

/** The rows that may have a value, by the name of an attribute, or the prefix of numbered ones. */
const rowsByName = new Map<string, CompiledRow[]>();

/** Compiles rows, so that one pass over the attributes of a span finds those with a value (`rowsOf`). */
export function defineRows<const T extends Record<string, Row>>(
  rows: T,
): { readonly [K in keyof T]: T[K] & CompiledRow } {
  const compiledRows = rows as { readonly [K in keyof T]: T[K] & CompiledRow };
  for (const row of Object.values<CompiledRow>(compiledRows))
    for (const name of Object.values(row).flat().map(nameOf)) {
      rowsByName.getOrInsert(name, []).push(row);
    }
  return compiledRows;
}

export function rowsOf(name: string): readonly CompiledRow[] {
  return rowsByName.get(name) ?? [];
}

/** The attribute of a place in a row; of a list the prefix. */
export function nameOf(place: string): string {
  return place.endsWith('.*') ? place.slice(0, -1) : (place.split('#', 1)[0] ?? '');
}
