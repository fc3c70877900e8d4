/** CSV as in RFC 4180: CRLF, and quotes around fields that need them. */

/**
 * Positions where a spreadsheet would start a formula, including full-width characters: a client's text could then run commands on
 * the computer that opens the file. Not only the start of a field: where the list separator of the system is a semicolon or a tab,
 * the field is split there, and quotes that do not start a piece do not protect it.
 */
const formulaStarts = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[ "]{0,8}[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

const needsQuotes = /[",;\t\r\n]/;

/** Formats a record. Numbers are written unchanged; an apostrophe is inserted before formula starts. */
export function csvRecord(values: readonly (string | number | null)[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(formulaStarts, "'");
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
