import { type Json, setMember } from '../../../../event/json/json-value.ts';

/** A list that numbered attributes hold, compiled from their names. */
export interface IndexedList {
  readonly prefix: string;
  /** The attributes that the list is made of. */
  readonly names: readonly string[];
  readonly template: Template;
}

/** The place of a value among `names`; a list; or the members of an object. */
type Template = number | readonly Template[] | ReadonlyMap<string, Template>;

/** Longest path below an index, in steps: `0.message.contents.0.message_content.image.image.url` has 8. */
const stepsMax = 16;

type Node = Map<string, Node | number>;

/** What precedes the first number in the name of an attribute: `llm.tools.`; undefined without a number. */
export function prefixOf(name: string): string | undefined {
  const at = name.search(firstNumber);
  return at === -1 ? undefined : name.slice(0, at + 1);
}

const firstNumber = /\.\d{1,6}(?:\.|$)/;

/**
 * Compiles attributes with numbers in their names, which is how flat conventions send lists: with the prefix
 * `llm.tools.`, the attribute `llm.tools.0.tool.json_schema` is read as `[{ "tool": { "json_schema": … } }]`.
 * Elements are sorted by number; gaps are closed.
 * @param sent the names with the prefix.
 */
export function compileList(prefix: string, sent: readonly string[]): IndexedList {
  const names: string[] = [];
  const root: Node = new Map();
  for (const name of sent) {
    const steps = name.slice(prefix.length).split('.');
    if (steps.length <= stepsMax && insert(root, steps, names.length)) names.push(name);
  }
  return { prefix, names, template: toList(root) };
}

/** @param leaves the values of the list's attributes. */
export function fillList({ template }: IndexedList, leaves: readonly Json[]): Json {
  return fill(template, leaves);
}

function fill(template: Template, leaves: readonly Json[]): Json {
  if (typeof template === 'number') return leaves[template] ?? null;
  if (!(template instanceof Map)) return (template as readonly Template[]).map((one) => fill(one, leaves));
  const object: { [key: string]: Json } = {};
  for (const [key, member] of template) setMember(object, key, fill(member, leaves));
  return object;
}

/** @returns false when another attribute already has a value at this path or above it. */
function insert(root: Node, steps: readonly string[], place: number): boolean {
  let node = root;
  for (const step of steps.slice(0, -1)) {
    const next = node.get(step) ?? new Map();
    if (!(next instanceof Map)) return false;
    node.set(step, next);
    node = next;
  }
  const lastStep = steps.at(-1) ?? '';
  if (node.has(lastStep)) return false;
  node.set(lastStep, place);
  return true;
}

function toTemplate(node: Node | number): Template {
  if (!(node instanceof Map)) return node;
  if ([...node.keys()].every(isIndex)) return toList(node);
  return new Map(Array.from(node, ([key, child]) => [key, toTemplate(child)]));
}

function toList(node: Node): Template[] {
  return [...node].sort(([a], [b]) => Number(a) - Number(b)).map(([, child]) => toTemplate(child));
}

function isIndex(step: string): boolean {
  return /^\d{1,6}$/.test(step);
}
