import { hash } from 'node:crypto';
import type { ColumnName } from './columns.ts';
import { segmentTermsMax } from './limits.ts';
import { asStored, storableText } from './text.ts';

/**
 * Terms: 64-bit hashes of the values that events can be filtered by. A segment is stored with the distinct terms of its
 * events, under an inverted index (ADR 0018). A term only says that an event may match: readers compare the columns too, so
 * that equal hashes of different values are harmless.
 *
 * A term is made of what the column holds: the first 256 characters, with U+FFFD for what Postgres cannot store.
 */

/** The columns that have terms, beside attributes. */
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

/** A value that an event has: of a column, or of one of its additional properties. */
export type TermSource =
  | { readonly column: TermColumn; readonly value: string }
  | { readonly attribute: string; readonly value: string };

/** Whether the term is of events with the state `error` only. It makes filters by a value and the state precise. */
export type TermScope = 'any' | 'error';

/** The term of a value. Terms of a space are made from it by {@link inSpace}. */
export function hashTerm(source: TermSource, scope: TermScope): bigint {
  // No value and no key has a U+0000, so different sources have different texts.
  return hash64(
    'column' in source
      ? `${scope}\0${source.column}\0${asStored(source.value)}`
      : `${scope}\0attribute\0${storableText(source.attribute)}\0${storableText(source.value)}`,
  );
}

/** Stands for all terms of events that have more than {@link segmentTermsMax}: their segment matches every filter. */
export const anyTerm = hash64('any');

/**
 * The terms as a space's segments have them. Spaces share no term: the postings of a value in one space are not read for
 * another one.
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

/** SHA-256, cut: OpenSSL hashes a short text in 0.4 µs, as fast as a simpler function in JavaScript. */
function hash64(text: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${hash('sha256', text).slice(0, 16)}`));
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
    return unionTerms([[...this.#terms]]);
  }

  #add(source: TermSource, isError: boolean): void {
    // More are not kept: see unionTerms.
    if (this.#terms.size > segmentTermsMax) return;
    this.#terms.add(hashTerm(source, 'any'));
    if (isError) this.#terms.add(hashTerm(source, 'error'));
  }
}

/** The values of one column or attribute that were seen, apart for events with the state `error`. */
class SeenValues {
  readonly #ok = new Set<string>();
  readonly #error = new Set<string>();
  // Neighbours share most of their values: comparing is faster than a look-up.
  #lastValue: string | undefined;
  #lastIsError = false;

  /** @returns whether the value is new. */
  note(value: string, isError: boolean): boolean {
    if (value === this.#lastValue && isError === this.#lastIsError) return false;
    this.#lastValue = value;
    this.#lastIsError = isError;
    const seen = isError ? this.#error : this.#ok;
    if (seen.has(value)) return false;
    seen.add(value);
    return true;
  }
}

function newSeen<Key>(seen: Map<Key, SeenValues>, key: Key): SeenValues {
  const values = new SeenValues();
  seen.set(key, values);
  return values;
}
