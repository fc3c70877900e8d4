import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { asStored } from '../../../event/text.ts';
import { hasRole } from '../../../store/accounts/role.ts';
import { changeNote, removeNote } from '../../../store/notes/change-notes.ts';
import { countLabels, listNotes, shownNote } from '../../../store/notes/list-notes.ts';
import {
  labelCharsMax,
  type NoteTarget,
  noteCharsMax,
  notesOfSpaceMax,
  notesOfTargetMax,
} from '../../../store/notes/note.ts';
import { storeNotes } from '../../../store/notes/store-notes.ts';
import { refusal } from '../refusal.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

/** Notes that one call adds, and events, threads and traces whose notes one call lists. */
const notesAtOnceMax = 100;
const notedTargetsListed = 200;
const noteLabelsListed = 20;

const id = z.guid().toLowerCase();
const threadId = z.string().min(1).transform(asStored);
const target = { eventId: id.optional(), traceId: id.optional(), threadId: threadId.optional() };
type Target = Partial<Record<keyof typeof target, string | undefined>>;

const oneTarget = z.union([
  z.strictObject({ eventId: id }),
  z.strictObject({ traceId: id }),
  z.strictObject({ threadId }),
]);

const content = {
  label: z
    .string()
    .min(1)
    .max(labelCharsMax)
    .regex(/^[^\p{Cc}]*$/u, 'must not have control characters')
    .optional(),
  /** The label's value: a text, a number, or true or false. */
  value: z.union([z.string().min(1).max(256), z.number(), z.boolean()]).optional(),
  text: z.string().min(1).max(noteCharsMax).optional(),
};

const saysSomething = ({ label, text }: { label?: string | undefined; text?: string | undefined }) =>
  label !== undefined || text !== undefined;
const namesLabel = ({ label, value }: { label?: string | undefined; value?: unknown }) =>
  label !== undefined || value === undefined;
const nothing = 'a note needs a label or a text';
const noLabel = { path: ['label'], message: 'must be given with value' };

const isOfOne = (given: Target) =>
  [given.eventId, given.traceId, given.threadId].filter((id) => id !== undefined).length === 1;
const notOfOne = 'must name one of eventId, traceId and threadId';

const newNote = z
  .object({
    /** A UUID. A note with an id that the space has is not added again: repeat a call with the same ids. */
    id: z
      .guid()
      .toLowerCase()
      .default(() => randomUUID()),
    ...target,
    ...content,
  })
  .refine(isOfOne, notOfOne)
  .refine(saysSomething, nothing)
  .refine(namesLabel, noLabel);

/** Notes and labels on events, threads and traces. */
export const notes = router({
  /**
   * The notes on events, traces and threads, the oldest first. Those on an event's trace and thread are not
   * among those on the event.
   */
  list: spaceProcedure('viewer')
    .input(z.object({ on: z.array(oneTarget).min(1).max(notedTargetsListed) }))
    .output(z.array(shownNote))
    .query(({ ctx: { space, role }, input: { on } }) =>
      listNotes(space.database, space.spaceId, {
        targets: on.map(targetOf),
        withMembers: hasRole(role, 'member'),
      }),
    ),

  /** The labels in use that begin with a text, to complete a search field. */
  labels: spaceProcedure('viewer')
    .input(z.object({ prefix: z.string().max(labelCharsMax).default('') }).prefault({}))
    .output(z.array(z.object({ label: z.string(), notes: z.number() })))
    .query(({ ctx: { space }, input: { prefix } }) =>
      countLabels(space.database, space.spaceId, { prefix, labelsMax: noteLabelsListed }),
    ),

  /**
   * Adds notes, also to what is not stored yet. Also for API keys with the scope `annotation`, which can do
   * nothing else. TOO_MANY_REQUESTS when too many calls come in a minute; CONFLICT when some of the notes,
   * which the message counts, were not added.
   */
  add: spaceProcedure('member', { isAnnotation: true })
    .input(z.object({ notes: z.array(newNote).min(1).max(notesAtOnceMax) }))
    .output(z.object({ ids: z.array(z.guid()) }))
    .mutation(async ({ ctx: { admin, actor, user, request, noteCalls }, input: { notes } }) => {
      const { database, spaceId } = admin;
      if (!noteCalls.take(spaceId))
        throw refusal('TOO_MANY_REQUESTS', 'Too many calls add notes to the space. Try again in a minute.');
      const isKey = request.readKey !== undefined;
      const refused = await admin.inTurn(() =>
        storeNotes(database, spaceId, {
          notes: notes.map((note) => ({ ...note, ...targetOf(note) })),
          author: isKey ? 'key' : 'user',
          authorId: user.userId,
          createdAt: new Date(),
          actor: isKey ? undefined : actor,
        }),
      );
      if (refused.length === 0) return { ids: notes.map(({ id }) => id) };
      throw refusal(
        'CONFLICT',
        `${refused.length} of ${notes.length} notes were not added. An event, thread or trace has at most ${notesOfTargetMax}, a space ` +
          `${notesOfSpaceMax}, and an event that was erased, has expired or is merged into another none.`,
      );
    }),

  /** Replaces what a note says. Admins may change those of others. */
  change: spaceProcedure('member')
    .input(
      z
        .object({ id: z.guid(), ...content })
        .refine(saysSomething, nothing)
        .refine(namesLabel, noLabel),
    )
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor, role }, input: { id, ...content } }) => {
      const change = { id, actor, isOfOthers: hasRole(role, 'admin'), content };
      if (!(await changeNote(admin.database, admin.spaceId, change))) throw noSuchNote();
    }),

  /** Removes a note. Admins may remove those of others. */
  remove: spaceProcedure('member')
    .input(z.object({ id: z.guid() }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor, role }, input: { id } }) => {
      const change = { id, actor, isOfOthers: hasRole(role, 'admin') };
      if (!(await removeNote(admin.database, admin.spaceId, change))) throw noSuchNote();
    }),
});

function targetOf(named: Target): NoteTarget {
  if (named.eventId !== undefined) return { target: 'event', targetId: named.eventId };
  if (named.traceId !== undefined) return { target: 'trace', targetId: named.traceId };
  return { target: 'thread', targetId: named.threadId ?? '' };
}

function noSuchNote() {
  return refusal('NOT_FOUND', 'There is no such note, or it is of another author.');
}
