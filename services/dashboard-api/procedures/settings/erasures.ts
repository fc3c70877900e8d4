import { z } from 'zod';
import { columnCharsMax } from '../../../../event/limits.ts';
import { type ErasurePreview, previewErasure } from '../../../../operations/erasure/preview.ts';
import type { EventsSubject } from '../../../../operations/erasure/subject.ts';
import {
  type CompletedErasure,
  listErasures,
  listRequests,
  type OpenRequest,
  requestErasure,
} from '../../../../operations/erasure-requests/requests.ts';
import { pastInstant } from '../../../../platform/instant.ts';
import { isoTimes } from '../../../../platform/time.ts';
import { refusal } from '../../refusal.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';

/** Limit of the reason of an erasure, in characters. */
const reasonCharsMax = 500;

/** Time after which a preview of an erasure stops counting: before the time-out of the call. */
const erasurePreviewMs = 8_000;

const kind = z.enum(['before', 'thread', 'user']);
/** `space`: the deletion of the space. */
const erasedKind = z.enum(['before', 'thread', 'user', 'space']);

/** Which events: those of a user or a thread, or those that started before a time. */
const subjectInput = z.object({
  kind,
  /** The id of the user or the thread, or the time: ISO 8601 with a zone, or a day; not in the future. */
  value: z
    .string()
    .min(1)
    .max(columnCharsMax)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must be text that can be stored'),
});

const preview = z
  .object({
    events: z.number(),
    segments: z.number(),
    quarantineEvents: z.number(),
    /** First and last start time. */
    from: z.iso.datetime().nullable(),
    to: z.iso.datetime().nullable(),
    /** False when the count took too long: there are at least this many. */
    isComplete: z.boolean(),
  } satisfies Record<keyof ErasurePreview, z.ZodType>)
  .meta({ id: 'ErasurePreview' });

const openRequest = z
  .object({
    id: z.guid(),
    subject: erasedKind,
    beforeMs: z.number().nullable(),
    reason: z.string().nullable(),
    requestedBy: z.string().nullable(),
    createdAt: z.iso.datetime(),
    /** When a writer began it; null while it waits for one. */
    startedAt: z.iso.datetime().nullable(),
    /** Events that the writer counted before it began. */
    expectedEvents: z.number().nullable(),
    progress: z.string().nullable(),
    /** Why the last attempt failed. It is tried again. */
    failure: z.string().nullable(),
  } satisfies Record<keyof OpenRequest, z.ZodType>)
  .meta({ id: 'ErasureRequest' });

const completed = z
  .object({
    id: z.guid(),
    subject: erasedKind,
    reason: z.string().nullable(),
    /** Null for the operator. */
    requestedBy: z.string().nullable(),
    completedAt: z.iso.datetime(),
    events: z.number(),
    /** JSON (docs/data-lifecycle.md#erasure); null for erasures of Weir 0.1.0. */
    receipt: z.string().nullable(),
  } satisfies Record<keyof CompletedErasure, z.ZodType>)
  .meta({ id: 'CompletedErasure' });

/** docs/data-lifecycle.md#erasure. A writer does it. */
export const erasures = router({
  /** What an erasure would delete now, without what is still in the queue. Changes nothing. */
  preview: spaceProcedure('owner')
    .input(subjectInput)
    .output(preview)
    .query(({ ctx: { admin }, input }) =>
      previewErasure(admin.database, admin.spaceId, {
        subject: toSubject(input),
        timeMsMax: erasurePreviewMs,
      }),
    ),

  /** A writer begins it within seconds; then it cannot be undone. */
  request: spaceProcedure('owner', { isConfirmed: true })
    .input(
      subjectInput.extend({
        /** Kept in the receipt and the audit log: without personal data. */
        reason: z.string().trim().max(reasonCharsMax).optional(),
      }),
    )
    .output(z.object({ id: z.guid() }))
    .mutation(async ({ ctx: { admin, actor }, input: { reason, ...input } }) => {
      const request = { subject: toSubject(input), reason: reason === '' ? undefined : reason, actor };
      const id = await admin.inTurn(() => requestErasure(admin.database, admin.spaceId, request));
      if (id !== undefined) return { id };
      throw refusal('TOO_MANY_REQUESTS', 'Too many erasures are waiting. Try again when some have ended.');
    }),

  /** Open ones, oldest first, and completed ones with their receipts, newest first. */
  list: spaceProcedure('admin')
    .output(z.object({ requests: z.array(openRequest), completed: z.array(completed) }))
    .query(async ({ ctx: { admin } }) => {
      const [requests, erasures] = await Promise.all([
        listRequests(admin.database, admin.spaceId),
        listErasures(admin.database, admin.spaceId),
      ]);
      return { requests: requests.map(isoTimes), completed: erasures.map(isoTimes) };
    }),
});

/** @throws TRPCError BAD_REQUEST for a time that is none, or not over. */
function toSubject({ kind, value }: z.infer<typeof subjectInput>): EventsSubject {
  if (kind !== 'before') return { kind, value };
  const read = pastInstant.safeParse(value);
  if (read.success) return { kind, timeMs: read.data };
  throw refusal('BAD_REQUEST', `value: ${read.error.issues[0]?.message}`);
}
