import { and, type SQL } from 'drizzle-orm';
import { asStored } from '../../event/text.ts';
import { type EventFilter, matchTime, matchValues, termsOf } from '../../store/read/event-filter.ts';

/** The events of a user or thread, all that started before a time, or all data of a deleted space. */
export type Subject =
  | { readonly kind: 'user' | 'thread'; readonly value: string }
  | { readonly kind: 'before'; readonly timeMs: number }
  | { readonly kind: 'space'; readonly name: string };

export type EventsSubject = Exclude<Subject, { readonly kind: 'space' }>;

/** Lists the same events, so that an operator sees what will be erased. */
function filterOf(subject: Subject): EventFilter {
  if (subject.kind === 'space') return {};
  if (subject.kind === 'before') return { to: subject.timeMs };
  return { [columnOf(subject.kind)]: subject.value };
}

export function matchRows(subject: Subject): SQL | undefined {
  const filter = filterOf(subject);
  return and(matchTime(filter), matchValues(filter));
}

/** The term of every segment with such events; undefined when segments are found by time. */
export function termOf(spaceId: string, subject: Subject): bigint | undefined {
  return termsOf(spaceId, filterOf(subject))[0];
}

/** Whether an element of the subject's column in a queued part matches; undefined means NULL. */
export function isOfElement(subject: Subject, element: string | undefined): boolean {
  if (subject.kind === 'space') return true;
  if (element === undefined) return false;
  return subject.kind === 'before' ? Number(element) < subject.timeMs : element === asStored(subject.value);
}

export function subjectColumn({ kind }: Subject): 'id' | 'userId' | 'threadId' | 'startTimeMs' {
  if (kind === 'space') return 'id';
  return kind === 'before' ? 'startTimeMs' : columnOf(kind);
}

function columnOf(kind: 'user' | 'thread') {
  return kind === 'user' ? 'userId' : 'threadId';
}
