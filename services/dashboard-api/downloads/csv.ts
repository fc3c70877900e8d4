/** CSV as RFC 4180 has it: CRLF, and quotes around whatever needs them. */

/**
 * The places where a spreadsheet would begin a formula, in full width too: a text of a client could then run commands at whoever
 * opens the file. Not only the beginning of a text: where the system's separator of lists is a semicolon or a tab, the file
 * is cut there, and quotes that do not begin such a piece protect nothing.
 */
const formulaStarts = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[ "]{0,8}[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

const needsQuotes = /[",;\t\r\n]/;

/** A record. Numbers are written as they are; what a spreadsheet would run gets an apostrophe before it. */
export function csvRecord(values: readonly (string | number | null)[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(formulaStarts, "'");
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
