import { stringifyExact } from '../../../../event/json/exact-json.ts';
import type { Json } from '../../../../event/json/json-value.ts';
import type { Attributes } from '../spans/attributes.ts';
import { compileList, fillList, type IndexedList, prefixOf } from './indexed.ts';
import { type CompiledRow, rowsOf } from './rows.ts';

/** How many different values of each kind are compared: agents that call each other alternate. */
const recentMax = 4;

/** Larger texts are read each time: holding what they were read as would take memory. */
const charsMax = 64 * 1024;

/** What the names of a span's attributes tell. */
export interface NameIndex {
  /** The rows that may have a value. */
  readonly rows: ReadonlySet<CompiledRow>;
  /** The lists of numbered attributes, by what precedes the first number. */
  readonly lists: ReadonlyMap<string, IndexedList>;
}

/** A list, and the names and values of the attributes that it was read from. */
interface KnownList {
  readonly value: Json;
  readonly names: readonly string[];
  readonly leaves: readonly Json[];
}

type Read<T> = (value: Json) => T;

/**
 * What the spans of one request have in common, such as the tools and the system prompt of an agent (ADR 43).
 * It is read once, and its JSON is written once: the results are shared, so nobody may change them.
 */
export class RepeatedValues {
  /** The JSON of the results that several events share (`stringifyExact`). */
  readonly written = new WeakMap<object, string>();
  readonly #indexes = new WeakMap<readonly string[], NameIndex>();
  readonly #lists = new Map<string, KnownList[]>();
  /** The values of these lists. */
  readonly #comparable = new WeakSet<object>();
  readonly #results = new Map<Read<unknown>, { readonly value: Json; readonly result: unknown }[]>();

  /** @param names of a span: the same array for spans that share one. */
  indexOf(names: readonly string[]): NameIndex {
    return this.#indexes.getOrInsertComputed(names, index);
  }

  /**
   * Reads a list from numbered attributes: the same object if the attributes equal those of an earlier span.
   */
  list(attributes: Attributes, list: IndexedList): KnownList {
    const { prefix, names } = list;
    const leaves = names.map((name) => attributes.get(name) ?? null);
    const known = this.#lists.getOrInsert(prefix, []);
    const same = known.find((one) => areEqual(one.leaves, leaves) && areEqual(one.names, names));
    if (same !== undefined) return same;
    const read = { value: fillList(list, leaves), names, leaves };
    if (charsOf(leaves) > charsMax) return read;
    remember(known, read);
    this.#comparable.add(read.value as object);
    return read;
  }

  /** `read(value)`, once for equal texts and for lists of equal attributes. */
  read<T extends object | undefined>(value: Json, read: Read<T>): T {
    const isComparable =
      typeof value === 'string' ? value.length <= charsMax : this.#comparable.has(value as object);
    if (!isComparable) return read(value);
    const known = this.#results.getOrInsert(read, []);
    const same = known.find((one) => one.value === value)?.result as T | undefined;
    if (same === undefined) {
      const result = read(value);
      remember(known, { value, result });
      return result;
    }
    this.share(same);
    return same;
  }

  share(result: object): void {
    if (!this.written.has(result)) this.written.set(result, stringifyExact(result as Json));
  }
}

function index(names: readonly string[]): NameIndex {
  const rows = new Set<CompiledRow>();
  const numbered = new Map<string, string[]>();
  for (const name of names) {
    for (const row of rowsOf(name)) rows.add(row);
    const prefix = prefixOf(name);
    if (prefix === undefined || rowsOf(prefix).length === 0) continue;
    for (const row of rowsOf(prefix)) rows.add(row);
    numbered.getOrInsert(prefix, []).push(name);
  }
  const lists = new Map(Array.from(numbered, ([prefix, all]) => [prefix, compileList(prefix, all)]));
  return { rows, lists };
}

/** A leaf that is no text counts for what it takes beside texts. */
function charsOf(leaves: readonly Json[]): number {
  return leaves.reduce<number>((sum, leaf) => sum + (typeof leaf === 'string' ? leaf.length : 0) + 64, 0);
}

function remember<T>(known: T[], value: T): void {
  if (known.unshift(value) > recentMax) known.pop();
}

function areEqual(some: readonly Json[], others: readonly Json[]): boolean {
  return (
    some === others ||
    (some.length === others.length && some.every((value, index) => value === others[index]))
  );
}
