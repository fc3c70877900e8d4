import { findSecrets } from './marks.ts';

/** Splits at line ends; longer lines at spaces where possible. No secret is split. */
export function splitLines(text: string, charsMax: number): string[] {
  const lines: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line.length <= charsMax) {
      lines.push(line);
      continue;
    }
    const secrets = findSecrets(line);
    let next = 0;
    for (let from = 0; from < line.length; ) {
      let to = endOfLine(line, from, charsMax);
      while (next < secrets.length && (secrets[next]?.to ?? 0) <= from) next++;
      const secret = secrets[next];
      if (secret !== undefined && secret.from < to && to < secret.to)
        to = secret.from > from ? secret.from : secret.to;
      // A pair of surrogates stays together.
      if (to < line.length && /[\uD800-\uDBFF]/.test(line[to - 1] ?? '')) to++;
      lines.push(line.slice(from, to));
      from = to;
    }
  }
  return lines;
}

/** A text in rows that fit, and the number of the text's line that each row is a part of, from 1. */
export interface NumberedLines {
  rows: readonly string[];
  numbers: readonly number[];
}

export function numberLines(text: string, charsMax: number): NumberedLines {
  const rows: string[] = [];
  const numbers: number[] = [];
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    for (const row of splitLines(line, charsMax)) {
      rows.push(row);
      numbers.push(index + 1);
    }
  }
  return { rows, numbers };
}

/** After the last space of the line, or in the middle of a word that fills half of it. */
function endOfLine(line: string, from: number, charsMax: number): number {
  const end = from + charsMax;
  if (end >= line.length) return line.length;
  // Of these characters only: in a text without spaces a search of the whole text takes minutes.
  const half = from + Math.ceil(charsMax / 2);
  const space = line.slice(half, end).lastIndexOf(' ');
  return space === -1 ? end : half + space + 1;
}
