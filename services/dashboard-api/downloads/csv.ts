/** CSV as RFC 4180 has it: CRLF, and quotes around whatever needs them. */

/**
 * What a spreadsheet takes for a formula when a text begins with it, in full width too: a text of a client could then run
 * commands at whoever opens the file.
 */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

const needsQuotes = /[",\r\n]/;

/** A record. Numbers are written as they are; a text that a spreadsheet would run gets an apostrophe before it. */
export function csvRecord(values: readonly (string | number | null)[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = formulaStart.test(value) ? `'${value}` : value;
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
