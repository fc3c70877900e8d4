import { and, type SQL } from 'drizzle-orm';
import { asStored } from '../../lib/event/text.ts';
import { type EventFilter, matchTime, matchValues, termsOf } from '../../lib/read/event-filter.ts';

/** Whose events are erased: those of a user, of a thread, or all that started before an instant. */
export type Subject =
  | { readonly kind: 'user' | 'thread'; readonly value: string }
  | { readonly kind: 'before'; readonly timeMs: number };

/** The filter that lists the same events: what an operator sees with it is what is erased. */
export function filterOf(subject: Subject): EventFilter {
  if (subject.kind === 'before') return { to: subject.timeMs };
  return { [columnOf(subject.kind)]: subject.value };
}

/** The condition on rows of `events`. */
export function matchRows(subject: Subject): SQL | undefined {
  const filter = filterOf(subject);
  return and(matchTime(filter), matchValues(filter));
}

/** The term that segments of the space have if they have such events; undefined where they are found by time. */
export function termOf(spaceId: string, subject: Subject): bigint | undefined {
  return termsOf(spaceId, filterOf(subject))[0];
}

/** The same for an element of the column in a queued part; undefined is NULL. */
export function isOfElement(subject: Subject, element: string | undefined): boolean {
  if (element === undefined) return false;
  return subject.kind === 'before' ? Number(element) < subject.timeMs : element === asStored(subject.value);
}

/** The column by which it is decided. */
export function subjectColumn({ kind }: Subject): 'userId' | 'threadId' | 'startTimeMs' {
  return kind === 'before' ? 'startTimeMs' : columnOf(kind);
}

function columnOf(kind: 'user' | 'thread') {
  return kind === 'user' ? 'userId' : 'threadId';
}
