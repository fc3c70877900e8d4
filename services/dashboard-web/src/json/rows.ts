import { findSecrets } from '../text/marks.ts';
import { childrenOf, type JsonNode, readString } from './node.ts';
import { formatPath, type JsonPath } from './path.ts';

/** A line of the tree. */
export interface JsonRow {
  depth: number;
  /** The path as text: the row's identity. */
  path: string;
  key: string | number | undefined;
  node: JsonNode;
  isOpen: boolean;
  /** Of an opened string: the part of the text that this line shows. */
  chunk?: { text: string; isLast: boolean };
  /** The closing bracket of an open object or array. */
  isClose?: boolean;
}

/** Characters of an opened text in one line. */
export const chunkChars = 110;

/** A document whose parts are read when they are shown, and kept. */
export interface JsonDocument {
  text: string;
  root: JsonNode;
  childrenOf: (node: JsonNode) => ReturnType<typeof childrenOf>;
  linesOf: (node: JsonNode) => string[];
}

export function openDocument(text: string, root: JsonNode): JsonDocument {
  const children = new Map<number, ReturnType<typeof childrenOf>>();
  const lines = new Map<number, string[]>();
  return {
    text,
    root,
    childrenOf: (node) => keep(children, node.start, () => childrenOf(text, node)),
    linesOf: (node) => keep(lines, node.start, () => splitLines(readString(text, node) ?? '', chunkChars)),
  };
}

function keep<Value>(kept: Map<number, Value>, key: number, make: () => Value): Value {
  let value = kept.get(key);
  if (value === undefined) {
    value = make();
    kept.set(key, value);
  }
  return value;
}

/** The lines of a tree in which the values at these paths are open. */
export function toRows(document: JsonDocument, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (node: JsonNode, key: JsonRow['key'], path: JsonPath, depth: number) => {
    const name = formatPath(path);
    const isOpen = open.has(name);
    rows.push({ depth, path: name, key, node, isOpen });
    if (!isOpen) return;
    if (node.kind === 'string') {
      const lines = document.linesOf(node);
      for (const [index, text] of lines.entries()) {
        const chunk = { text, isLast: index === lines.length - 1 };
        rows.push({ depth: depth + 1, path: `${name}#${index}`, key: undefined, node, isOpen, chunk });
      }
      return;
    }
    for (const child of document.childrenOf(node)) {
      const step = child.key ?? child.index;
      visit(child.node, step, [...path, step], depth + 1);
    }
    rows.push({ depth, path: `${name}#end`, key: undefined, node, isOpen, isClose: true });
  };
  visit(document.root, undefined, [], 0);
  return rows;
}

/** Splits a text at its line ends, and lines that are longer than `charsMax` between words, where there are some. No secret is split. */
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

/** After the last space of the line, or in the middle of a word that fills half of it. */
function endOfLine(line: string, from: number, charsMax: number): number {
  const end = from + charsMax;
  if (end >= line.length) return line.length;
  // Of these characters only: in a text without spaces a search of the whole text takes minutes.
  const half = from + Math.ceil(charsMax / 2);
  const space = line.slice(half, end).lastIndexOf(' ');
  return space === -1 ? end : half + space + 1;
}

/** All paths that must be open for the value at `path` to be shown. */
export function ancestorsOf(path: JsonPath): string[] {
  return path.map((_, length) => formatPath(path.slice(0, length)));
}
