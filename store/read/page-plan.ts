/**
 * The plans by which a page of a list finds its events. A plan that does not complete the page is followed by
 * another, chosen with what is known by then: the first row whose condition holds.
 *
 * | Plan | Condition |
 * |---|---|
 * | `allInOrder` | the filter has no condition besides the time range |
 * | `fewSegments` | a trace, thread, user or rare note is wanted, not known to have many segments |
 * | `newestEvents` | no event was examined yet |
 * | `moreEvents`, then `end` | the filter has no terms, or enough events were found |
 * | `fewSegments` | it is not known yet that the terms have many segments |
 * | `moreEvents` | the page may end early, and only the newest events were examined |
 * | `segmentsInOrder` | it is not known that the page begins far behind the newest segments |
 * | `moreEvents` | there is one term, and only the newest events were examined |
 * | `listedSegments` | otherwise |
 */
export type PagePlan =
  /** Reads events in list order: all match. */
  | 'allInOrder'
  /** Lists all segments with the terms, if they are few, and reads them. */
  | 'fewSegments'
  /** Examines the next events in list order, whether or not they match: first a few. */
  | 'newestEvents'
  /** Examines further events in list order. */
  | 'moreEvents'
  /** Examines segments in order of time, then lists those with the terms. */
  | 'segmentsInOrder'
  /** Lists the segments with the terms. */
  | 'listedSegments'
  /** The page ends, incomplete. */
  | 'end';

/** What is known about a page and its filter when the next plan is chosen. */
export interface PageFacts {
  /** Whether the filter has a condition besides the time range. */
  readonly hasConditions: boolean;
  /** Number of the filter's terms and of its conditions on few notes, by which segments can be found. */
  readonly terms: number;
  /** Whether the filter names a trace, a thread or a user, or a note that is on few. */
  readonly isUsuallyRare: boolean;
  /** Whether the page may end, incomplete, with enough events (`enoughRows` of `ListLimits`). */
  readonly mayEndEarly: boolean;
  /** Whether the page has enough events to end early. */
  readonly hasEnough: boolean;
  /** How far events were examined in list order. */
  readonly examined: 'none' | 'newest' | 'more';
  /** Whether more segments have the terms than `fewSegments` reads. */
  readonly hasManySegments: boolean;
  /** Whether the page begins far behind the newest segments of the space. */
  readonly isLate: boolean;
}

/** Chooses the next plan of a page, by the table at the head of this file. */
export function choosePlan(facts: PageFacts): PagePlan {
  const { terms, examined, hasManySegments } = facts;
  if (!facts.hasConditions) return 'allInOrder';
  if (facts.isUsuallyRare && !hasManySegments) return 'fewSegments';
  if (examined === 'none') return 'newestEvents';
  if (terms === 0 || facts.hasEnough) return examined === 'more' ? 'end' : 'moreEvents';
  if (!hasManySegments) return 'fewSegments';
  if (facts.mayEndEarly && examined === 'newest') return 'moreEvents';
  if (!facts.isLate) return 'segmentsInOrder';
  if (terms === 1 && examined === 'newest') return 'moreEvents';
  return 'listedSegments';
}
