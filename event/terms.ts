import { hash } from 'node:crypto';
import type { ColumnName } from './columns.ts';
import { recentTermsMax, recentTermTextCharsMax, segmentTermsMax } from './limits.ts';
import { asStored, storableText } from './text.ts';

/**
 * Terms: 64-bit hashes of the values that events can be filtered by. A segment is stored with the distinct
 * terms of its events, under an inverted index (ADR 0018). A term only shows that an event may match: queries
 * compare the columns too, so hash collisions are harmless.
 *
 * A term is computed from the stored value: the first 256 characters, with U+FFFD for characters that
 * Postgres rejects.
 */

/** The columns that have terms. Attributes have terms, too. */
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

/** The value of an event's column, or of one of its additional properties. */
export type TermSource =
  | { readonly column: TermColumn; readonly value: string }
  | { readonly attribute: string; readonly value: string };

/**
 * Terms with the scope `error` are of events with that state only. They make a filter by a value and the
 * state precise.
 */
export type TermScope = 'any' | 'error';

/**
 * The hashes of recent texts. Types, models, agents and traces occur again in the requests that follow, and a
 * hash takes several times as long as a look-up.
 */
const recentHashes = new Map<string, bigint>();

/** Computes the term of a value. {@link inSpace} converts it to the term of a space. */
export function hashTerm(source: TermSource, scope: TermScope): bigint {
  // Stored values and keys contain no U+0000, so different sources have different texts.
  return hash64(
    'column' in source
      ? `${scope}\0${source.column}\0${asStored(source.value)}`
      : `${scope}\0attribute\0${storableText(source.attribute)}\0${storableText(source.value)}`,
  );
}

/**
 * Replaces the terms of a segment that has more than {@link segmentTermsMax}. Such a segment is a candidate
 * for every filter.
 */
export const anyTerm = hash64('any');

/**
 * Converts terms to those of a space. Spaces share no terms, so a search in one space reads no postings of
 * another.
 */
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

/** Collects the distinct terms of events. A value is hashed once, however many events have it. */
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
 * The values of one column or attribute seen so far, separately for events with the state `error`.
 * Consecutive events share most values, and comparing is faster than a look-up; a single event needs no sets.
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
