import { setMember } from '../../../../event/json/json-value.ts';
import type { Json } from '../../read/protobuf-struct.ts';

/** A list that was read from numbered attributes, and their names. */
export interface IndexedList {
  readonly value: Json[];
  readonly names: readonly string[];
}

/** Longest path below an index, in steps: `0.message.contents.0.message_content.image.image.url` has 8. */
const stepsMax = 16;

type Node = Map<string, Node | { readonly leaf: Json }>;

/** What precedes the first number in the name of an attribute: `llm.tools.`; undefined without a number. */
export function prefixOf(name: string): string | undefined {
  const at = name.search(firstNumber);
  return at === -1 ? undefined : name.slice(0, at + 1);
}

const firstNumber = /\.\d{1,6}(?:\.|$)/;

/**
 * Reads a list from attributes with numbers in their names, which is how flat conventions send lists: with
 * the prefix
 * `llm.tools.`, the attribute `llm.tools.0.tool.json_schema` is read as `[{ "tool": { "json_schema": … } }]`.
 * Elements are sorted by number; gaps are closed.
 * @param names those with the prefix.
 * @param leaves the values of the attributes.
 */
export function readList(
  prefix: string,
  names: readonly string[],
  leaves: readonly Json[],
): IndexedList | undefined {
  const read: string[] = [];
  const root: Node = new Map();
  for (const [index, name] of names.entries()) {
    const steps = name.slice(prefix.length).split('.');
    if (steps.length > stepsMax) continue;
    if (insert(root, steps, leaves[index] ?? null)) read.push(name);
  }
  return read.length === 0 ? undefined : { value: toList(root), names: read };
}

/** @returns false when another attribute already has a value at this path or above it. */
function insert(root: Node, steps: readonly string[], leaf: Json): boolean {
  let node = root;
  for (const step of steps.slice(0, -1)) {
    const next = node.get(step) ?? new Map();
    if (!(next instanceof Map)) return false;
    node.set(step, next);
    node = next;
  }
  const lastStep = steps.at(-1) ?? '';
  if (node.has(lastStep)) return false;
  node.set(lastStep, { leaf });
  return true;
}

function toJson(node: Node | { readonly leaf: Json }): Json {
  if (!(node instanceof Map)) return node.leaf;
  if ([...node.keys()].every(isIndex)) return toList(node);
  const object: { [key: string]: Json } = {};
  for (const [key, child] of node) setMember(object, key, toJson(child));
  return object;
}

function toList(node: Node): Json[] {
  return [...node].sort(([a], [b]) => Number(a) - Number(b)).map(([, child]) => toJson(child));
}

function isIndex(step: string): boolean {
  return /^\d{1,6}$/.test(step);
}
