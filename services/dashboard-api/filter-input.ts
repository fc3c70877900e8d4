import { z } from 'zod';
import { type TermColumn, termColumns } from '../../event/terms.ts';
import { timeMsMax } from '../../platform/limits.ts';
import { labelCharsMax } from '../../store/notes/note.ts';
import { measures, operators } from '../../store/read/compare/comparisons.ts';
import { parseEventCursor } from '../../store/read/event-cursor.ts';
import { refusal } from './refusal.ts';
import type { Seal } from './seal.ts';

/** Limit of a sealed filter, in characters: it is part of an address, and Node reads 16 KiB of headers. */
const sealedCharsMax = 14_000;

/** Additional properties in the filter of a list. Each is another condition on every row. */
const attributeFiltersMax = 10;

const excludedValuesMax = 10;

/** Comparisons of numbers in the filter of a list: two for each measure. */
export const comparisonsMax = 6;

/** Conditions on notes in the filter of a list. Each is a look-up for each event that is examined. */
export const noteConditionsMax = 5;

/** A time since the epoch, or a duration, in milliseconds. */
export const timeMs = z.number().min(-timeMsMax).max(timeMsMax);

/** A text that is parsed. @param message for one that `parse` refuses. */
export function parsedText<Parsed>(parse: (text: string) => Parsed | undefined, message: string) {
  return z.string().transform((text, context) => {
    const parsed = parse(text);
    if (parsed !== undefined) return parsed;
    context.addIssue(message);
    return z.NEVER;
  });
}

/** A position in a list, as text. */
export const eventCursor = parsedText(parseEventCursor, 'must be a nextCursor of this list');

const excluded = z.union([
  z
    .object({ column: z.enum(termColumns), value: z.string() })
    .refine(({ column, value }) => column !== 'traceId' || z.guid().safeParse(value).success, {
      path: ['value'],
      message: 'must be a UUID',
    }),
  z.object({ attribute: z.string(), value: z.string() }),
]);

const comparison = z.object({
  measure: z.enum(measures),
  operator: z.enum(operators),
  value: z.number().min(-timeMsMax).max(timeMsMax),
});

export const noteCondition = z
  .object({
    label: z.string().min(1).max(labelCharsMax).optional(),
    /** The note's value as text; numbers as JavaScript prints them. */
    value: z.string().optional(),
    /** Compares numbers, and booleans as 0 or 1. */
    operator: z.enum(operators).optional(),
    score: z.number().optional(),
    /** Whether there must be none. */
    isExcluded: z.boolean().optional(),
  })
  .refine(({ operator, score }) => (operator === undefined) === (score === undefined), {
    path: ['score'],
    message: 'must be given with operator',
  });

/** The filter fields that several procedures take. Each restricts the result; `to` is exclusive. */
export const eventFilter = {
  type: z.enum(['llm', 'tool']).optional(),
  state: z.enum(['ok', 'error']).optional(),
  name: z.string().optional(),
  source: z.string().optional(),
  threadId: z.string().optional(),
  traceId: z.guid().optional(),
  agentId: z.string().optional(),
  agentGroupId: z.string().optional(),
  userId: z.string().optional(),
  errorCode: z.string().optional(),
  attributes: z
    .array(z.object({ key: z.string(), value: z.string() }))
    .max(attributeFiltersMax)
    .optional(),
  from: timeMs.optional(),
  to: timeMs.optional(),
  minDurationMs: timeMs.optional(),
  maxDurationMs: timeMs.optional(),
  /** Conditions on duration (ms), tokens, or cost (dollars), which needs `from`: see docs/read-api.md. */
  comparisons: z.array(comparison).max(comparisonsMax).optional(),
  text: z.string().min(1).optional(),
  not: z.array(excluded).max(excludedValuesMax).optional(),
  /**
   * Conditions on the notes on an event, its trace or its thread: that there is one, with this label, value,
   * or score.
   */
  notes: z.array(noteCondition).max(noteConditionsMax).optional(),
} satisfies Record<TermColumn, z.ZodType> & Record<string, z.ZodType>;

/**
 * Proxies log addresses, and a live stream and a download have no body: so pages send a filter, with user ids
 * and searched texts, to `events.sealFilter`, and the sealed text in the address.
 */

const filterShape = z.strictObject(eventFilter);
type Filter = z.infer<typeof filterShape>;

/** Gives no access: the caller is checked as with a plain filter. */
export const sealed = z.string().max(sealedCharsMax);

export function sealFilter(seal: Seal, spaceId: string, filter: Filter): string {
  return seal.seal(JSON.stringify(filter), spaceId).toString('base64url');
}

/** @throws TRPCError BAD_REQUEST when sealed for another space or with another API_KEY_PEPPER. */
export function openFilter(seal: Seal, spaceId: string, text: string): Filter {
  const plain = seal.open(Buffer.from(text, 'base64url'), spaceId);
  const parsed = plain === undefined ? undefined : filterShape.safeParse(JSON.parse(plain));
  if (parsed?.success) return parsed.data;
  throw refusal('BAD_REQUEST', 'sealed: not a result of events.sealFilter for this space.');
}
