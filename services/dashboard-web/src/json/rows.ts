import { splitLines } from '../text/split-lines.ts';
import { childrenOf, type JsonNode, readString } from './node.ts';
import { formatPath, type JsonPath } from './path.ts';

export interface JsonRow {
  depth: number;
  /** The path as text: the row's identity. */
  path: string;
  key: string | number | undefined;
  node: JsonNode;
  isOpen: boolean;
  /** Of an opened string: the part of the text that this line shows. */
  chunk?: { text: string; isLast: boolean };
  isClose?: boolean;
}

/** Characters of an opened text in one line. */
export const chunkChars = 110;

/** Parts are read when they are shown, and kept. */
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

/** What must be open for the value at `path` to be shown. */
export function ancestorsOf(path: JsonPath): string[] {
  return path.map((_, length) => formatPath(path.slice(0, length)));
}
