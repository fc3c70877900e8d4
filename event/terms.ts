import { hash } from 'node:crypto';
import type { ColumnName } from './columns.ts';
import { recentTermsMax, recentTermTextCharsMax, segmentTermsMax } from './limits.ts';
import { asStored, storableText } from './text.ts';

/**
 * 64-bit hashes of the values that events can be filtered by: the stored value, cut to 256 characters,
 * without those that Postgres rejects. A segment has the distinct terms of its events, under an inverted
 * index (ADR 0018). Queries compare the columns, too, so collisions are harmless.
 */

/** Attributes have terms, too. */
export const termColumns = [
  'type',
  'state',
  'name',
  'source',
  'traceId',
  'threadId',
  'agentId',
  'agentGroupId',
  'userId',
  'errorCode',
] as const satisfies readonly ColumnName[];

export type TermColumn = (typeof termColumns)[number];

export type TermSource =
  | { readonly column: TermColumn; readonly value: string }
  | { readonly attribute: string; readonly value: string };

/** `error`: of events with that state only, for a filter by a value and the state. */
export type TermScope = 'any' | 'error';

/** Recent texts occur again in the next requests, and a hash takes several times as long as a look-up. */
const recentHashes = new Map<string, bigint>();

/** {@link inSpace} converts the term to that of a space. */
export function hashTerm(source: TermSource, scope: TermScope): bigint {
  // Stored values and keys contain no U+0000, so different sources have different texts.
  return hash64(
    'column' in source
      ? `${scope}\0${source.column}\0${asStored(source.value)}`
      : `${scope}\0attribute\0${storableText(source.attribute)}\0${storableText(source.value)}`,
  );
}

/** The only term of a segment with more than {@link segmentTermsMax}: a candidate for every filter. */
export const anyTerm = hash64('any');

/** Spaces share no terms, so a search in one space reads no postings of another. */
export function inSpace(spaceId: string, terms: Iterable<bigint>): bigint[] {
  const space = hash64(`space\0${spaceId}`);
  return Array.from(terms, (term) => term ^ space);
}

/** All distinct terms of several batches, or only {@link anyTerm}. */
export function unionTerms(lists: readonly (readonly bigint[])[]): bigint[] {
  const union = new Set(lists.flat());
  return union.size > segmentTermsMax || union.has(anyTerm) ? [anyTerm] : [...union];
}

/** The first 64 bits of SHA-256. */
function hash64(text: string): bigint {
  const known = recentHashes.get(text);
  if (known !== undefined) return known;
  const hashed = BigInt.asIntN(64, BigInt(`0x${hash('sha256', text).slice(0, 16)}`));
  if (text.length > recentTermTextCharsMax) return hashed;
  if (recentHashes.size === recentTermsMax) recentHashes.clear();
  recentHashes.set(text, hashed);
  return hashed;
}

/** A value is hashed once, however many events have it. */
export class TermCollector {
  readonly #terms = new Set<bigint>();
  readonly #columns = new Map<TermColumn, SeenValues>();
  readonly #attributes = new Map<string, SeenValues>();

  addColumn(column: TermColumn, value: string, isError: boolean): void {
    const seen = this.#columns.get(column) ?? newSeen(this.#columns, column);
    if (seen.note(value, isError)) this.#add({ column, value }, isError);
  }

  addAttribute(attribute: string, value: string, isError: boolean): void {
    const seen = this.#attributes.get(attribute) ?? newSeen(this.#attributes, attribute);
    if (seen.note(value, isError)) this.#add({ attribute, value }, isError);
  }

  finish(): bigint[] {
    return this.#terms.size > segmentTermsMax ? [anyTerm] : [...this.#terms];
  }

  #add(source: TermSource, isError: boolean): void {
    // Past the limit, `finish` returns only anyTerm.
    if (this.#terms.size > segmentTermsMax) return;
    this.#terms.add(hashTerm(source, 'any'));
    if (isError) this.#terms.add(hashTerm(source, 'error'));
  }
}

/**
 * The values of a column or attribute so far, apart for the state `error`. Consecutive events share most
 * values, and comparing is faster than a look-up; a single event needs no sets.
 */
class SeenValues {
  #ok: Set<string> | undefined;
  #error: Set<string> | undefined;
  #lastValue: string | undefined;
  #lastIsError = false;

  /** @returns whether the value is new. */
  note(value: string, isError: boolean): boolean {
    const [lastValue, lastIsError] = [this.#lastValue, this.#lastIsError];
    if (value === lastValue && isError === lastIsError) return false;
    this.#lastValue = value;
    this.#lastIsError = isError;
    if (lastValue === undefined) return true;
    if (lastIsError) this.#error = (this.#error ?? new Set()).add(lastValue);
    else this.#ok = (this.#ok ?? new Set()).add(lastValue);
    return !(isError ? this.#error : this.#ok)?.has(value);
  }
}

function newSeen<Key>(seen: Map<Key, SeenValues>, key: Key): SeenValues {
  const values = new SeenValues();
  seen.set(key, values);
  return values;
}
