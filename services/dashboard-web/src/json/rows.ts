import { ignoringCase } from '../text/ignoring-case.ts';
import { splitLines } from '../text/split-lines.ts';
import { type JsonNode, type JsonSource, keep, openSource, readString, sourceOf } from './node.ts';
import { formatPath, type JsonPath } from './path.ts';

export interface JsonRow {
  depth: number;
  /** The path as text: the row's identity. */
  path: string;
  key: string | number | undefined;
  node: JsonNode;
  isOpen: boolean;
  /** In an opened string: the part of the text that this line shows. */
  chunk?: { text: string; isLast: boolean };
  isClose?: boolean;
}

/** Characters of an opened text in one line. */
const chunkChars = 110;

/** Characters of a text, and of the source of a number, in a closed line. */
export const headChars = 160;

/** Values opened for hits of a search: more would be no list to read. */
const openedMax = 50;

/** Parts are read when they are shown, and kept. */
export interface JsonDocument extends JsonSource {
  root: JsonNode;
  linesOf: (node: JsonNode) => string[];
}

export function openDocument(text: string, root: JsonNode): JsonDocument {
  const lines = new Map<number, string[]>();
  return {
    ...openSource(text),
    root,
    linesOf: (node) => keep(lines, node.start, () => splitLines(readString(text, node) ?? '', chunkChars)),
  };
}

export function toRows(document: JsonDocument, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (node: JsonNode, path: JsonPath) => {
    const [name, depth, key] = [formatPath(path), path.length, path.at(-1)];
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
      visit(child.node, [...path, child.key ?? child.index]);
    }
    rows.push({ depth, path: `${name}#end`, key: undefined, node, isOpen, isClose: true });
  };
  visit(document.root, []);
  return rows;
}

/** What must be open for the value at `path` to be shown. */
export function ancestorsOf(path: JsonPath): string[] {
  return path.map((_, length) => formatPath(path.slice(0, length)));
}

/** The values that must be open for the first hits of a search to be shown. */
export function pathsToHits(document: JsonDocument, found: string): ReadonlySet<string> {
  const open = new Set<string>();
  if (found === '') return open;
  const openAt = (at: number, node: JsonNode, path: JsonPath) => {
    if (open.size >= openedMax) return;
    if (node.kind !== 'string' || node.end - node.start > headChars) open.add(formatPath(path));
    const child = document.childrenOf(node).find((one) => one.node.start <= at && at < one.node.end);
    if (child !== undefined) openAt(at, child.node, [...path, child.key ?? child.index]);
  };
  for (const { index } of document.text.matchAll(inSource(found))) openAt(index, document.root, []);
  return open;
}

export function isHit({ node, isOpen, chunk }: JsonRow, { text }: JsonDocument, found: string): boolean {
  if (found === '') return false;
  if (chunk !== undefined) return chunk.text.search(ignoringCase(found)) !== -1;
  return !isOpen && sourceOf(text, node).search(inSource(found)) !== -1;
}

/** Finds a text in JSON: some clients escape what is not ASCII. */
function inSource(found: string): RegExp {
  const quoted = JSON.stringify(found).slice(1, -1);
  const escaped = quoted.replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const patterns = [...new Set([quoted, escaped])].map((one) => ignoringCase(one).source);
  return new RegExp(patterns.join('|'), 'giu');
}
