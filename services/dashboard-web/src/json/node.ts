/** The position of a JSON value in a source text: its first character, and the one after its last. */
export interface JsonNode {
  kind: 'object' | 'array' | 'string' | 'number' | 'literal';
  start: number;
  end: number;
}

export interface JsonChild {
  /** The member's name, decoded; undefined for an element. */
  key: string | undefined;
  index: number;
  node: JsonNode;
}

/**
 * The value at a position, after white space. Nothing is parsed: each digit and escape stays what was sent.
 * @throws SyntaxError where the text is no JSON. What is inside of strings and numbers is not examined.
 */
export function nodeAt(text: string, at = 0): JsonNode {
  const start = skipSpace(text, at);
  const first = text[start];
  if (first === '"') return { kind: 'string', start, end: skipString(text, start) };
  if (first === '{') return { kind: 'object', start, end: skipContainer(text, start) };
  if (first === '[') return { kind: 'array', start, end: skipContainer(text, start) };
  scalar.lastIndex = start;
  const found = scalar.exec(text)?.[0];
  if (found === undefined) throw damaged(start);
  return { kind: /^[tfn]/.test(found) ? 'literal' : 'number', start, end: start + found.length };
}

const scalar = /true|false|null|-?\d[\d.eE+-]*/y;

/** The members or elements of a value, in the order of the text; none for other values. */
export function childrenOf(text: string, parent: JsonNode): JsonChild[] {
  const children: JsonChild[] = [];
  if (parent.kind !== 'object' && parent.kind !== 'array') return children;
  const close = parent.kind === 'object' ? '}' : ']';
  let at = skipSpace(text, parent.start + 1);
  while (text[at] !== close) {
    let key: string | undefined;
    if (parent.kind === 'object') {
      const end = skipString(text, at);
      key = JSON.parse(text.slice(at, end));
      at = skipSpace(text, end);
      if (text[at] !== ':') throw damaged(at);
      at++;
    }
    const node = nodeAt(text, at);
    children.push({ key, index: children.length, node });
    at = skipSpace(text, node.end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
    else if (text[at] !== close) throw damaged(at);
  }
  return children;
}

/** Objects and arrays are each scanned once, however many values are looked up. */
export interface JsonSource {
  text: string;
  childrenOf: (parent: JsonNode) => readonly JsonChild[];
}

export function openSource(text: string): JsonSource {
  const known = new Map<number, JsonChild[]>();
  return { text, childrenOf: (parent) => keep(known, parent.start, () => childrenOf(text, parent)) };
}

/** The value of a key, which is made once. */
export function keep<Value>(kept: Map<number, Value>, key: number, make: () => Value): Value {
  let value = kept.get(key);
  if (value === undefined) {
    value = make();
    kept.set(key, value);
  }
  return value;
}

/** Follows names from a value; of several members of one name to the last, as JSON.parse does. */
export function find(
  source: JsonSource,
  from: JsonNode | undefined,
  ...names: string[]
): JsonNode | undefined {
  return names.reduce<JsonNode | undefined>(
    (node, name) => node && source.childrenOf(node).findLast(({ key }) => key === name)?.node,
    from,
  );
}

/** The text of a string value; undefined for other values. */
export function readString(text: string, node: JsonNode | undefined): string | undefined {
  return node?.kind === 'string' ? JSON.parse(text.slice(node.start, node.end)) : undefined;
}

export function sourceOf(text: string, node: JsonNode): string {
  return text.slice(node.start, node.end);
}

/** The beginning of a string value, decoded: about as many characters as of the source. */
export function readStringHead(text: string, node: JsonNode, charsMax: number): string {
  if (node.end - node.start - 2 <= charsMax) return JSON.parse(text.slice(node.start, node.end));
  const head = text.slice(node.start + 1, node.start + 1 + charsMax);
  // An escape or a pair of surrogates that the cut went through is left out.
  const whole = head
    .replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, '$1')
    .replace(/[\uD800-\uDBFF]$/, '');
  return JSON.parse(`"${whole}"`);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

function skipString(text: string, start: number): number {
  if (text[start] !== '"') throw damaged(start);
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) throw damaged(start);
    let first = quote;
    while (first > from && text[first - 1] === '\\') first--;
    // An even number of backslashes escape each other, not the quote.
    if ((quote - first) % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

function skipContainer(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = skipString(text, at);
      continue;
    }
    at++;
    if (code === 0x7b || code === 0x5b) depth++;
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return at;
  }
  throw damaged(start);
}

function damaged(at: number): SyntaxError {
  return new SyntaxError(`Invalid JSON at character ${at}.`);
}
