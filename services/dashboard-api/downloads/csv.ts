/** RFC 4180. */

/**
 * Positions at which a spreadsheet would start a formula, with which a client's text could run commands;
 * full-width characters, too. Also within a field: where the system's list separator is a semicolon or a tab,
 * the field is split there, and its quotes do not protect the piece.
 */
const formulaStarts = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[ "]{0,8}[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

const needsQuotes = /[",;\t\r\n]/;

/** Numbers are written unchanged; an apostrophe is inserted before formula starts. */
export function csvRecord(values: readonly (string | number | null)[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(formulaStarts, "'");
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
