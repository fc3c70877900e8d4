import { z } from 'zod';

/**
 * `Date.parse` alone is no check: to it "ticket 4711" is the year 4711. Zod accepts the year 0, Postgres not.
 */

const hasYear = (text: string) => !text.startsWith('0000');

/** `YYYY-MM-DD`. */
export const day = z.iso.date().refine(hasYear, 'must be a day such as 2026-11-30');

const toTheSecond = z.iso.datetime({ offset: true }).refine(hasYear);
const toTheMinute = z.iso.datetime({ offset: true, precision: -1 }).refine(hasYear);

/** ISO 8601 with a zone, or a day, which is its first instant in UTC. Gives milliseconds since 1970. */
export const instant = z
  .union([toTheSecond, toTheMinute, day], {
    error: 'must be a time with a zone such as 2026-11-30T12:00:00Z, or a day such as 2026-11-30',
  })
  .transform((text) => Date.parse(text));

/** What is bounded by a time in the future has everything within its bounds. */
export const pastInstant = instant.refine((timeMs) => timeMs <= Date.now(), 'must not be in the future');
