export type CodeKind = 'comment' | 'string' | 'number' | 'keyword';

export interface CodePart {
  kind: CodeKind;
  from: number;
  to: number;
}

/** The keywords of the languages that models write most, and the values of JSON. */
const keywords =
  'abstract and any as assert async await begin bool boolean break by case catch char class const continue create def default defer delete do double elif else end enum except export extends extern false final finally float fn for foreach from func function global go group if impl implements import in insert instanceof int interface into is join lambda let limit long loop match mod module mut namespace new nil None not null of on or order package pass private protected pub public raise return select self set static string struct super switch table then this throw trait true True False try type typeof undefined union update use using val values var void when where while with yield'.split(
    ' ',
  );
const known = new Set([...keywords, ...keywords.map((word) => word.toUpperCase())]);

/** Comments, quoted texts, which end with their line at the latest, numbers and words. */
const token = new RegExp(
  [
    String.raw`(?<comment>//[^\n]*|/\*.*?(?:\*/|$)|<!--.*?(?:-->|$)|(?<=^|\s)(?:#|--\s)[^\n]*)`,
    String.raw`(?<string>""".*?(?:"""|$)|\`(?:[^\`\\]|\\.)*\`?|"(?:[^"\\\n]|\\.)*"?|(?<!\w)'(?:[^'\\\n]|\\.)*'(?!\w))`,
    String.raw`(?<number>\b(?:0x[\da-f]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\b)`,
    String.raw`(?<word>[a-z_$][\w$]*)`,
  ].join('|'),
  'gis',
);

/** More parts than this are not coloured: a block of megabytes would stop the page. */
const partsMax = 5_000;

/** The parts of code that are coloured, in any language: what nearly all of them have in common. */
export function readCode(text: string): CodePart[] {
  const parts: CodePart[] = [];
  for (const { 0: match, index, groups = {} } of text.matchAll(token)) {
    if (parts.length === partsMax) break;
    const kind = (['comment', 'string', 'number'] as const).find((one) => groups[one] !== undefined);
    if (kind === undefined && !known.has(match)) continue;
    parts.push({ kind: kind ?? 'keyword', from: index, to: index + match.length });
  }
  return parts;
}
