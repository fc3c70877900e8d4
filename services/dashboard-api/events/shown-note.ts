import { z } from 'zod';
import { notes } from '../../../store/db/schema.ts';
import type { ShownNote } from '../../../store/notes/list-notes.ts';

export const shownNote = z
  .object({
    id: z.guid(),
    /** What it is on, and the id of that. */
    target: z.enum(notes.target.enumValues),
    targetId: z.string(),
    label: z.string().nullable(),
    value: z.union([z.string(), z.number(), z.boolean()]).nullable(),
    /** The number that is compared: that of the value, or of an evaluation with a text and a number. */
    score: z.number().nullable(),
    text: z.string().nullable(),
    author: z.enum(notes.author.enumValues),
    /** The id of the user or the API key. */
    authorId: z.guid(),
    /** The name of the key, or the e-mail address of the user, which members see; else null. */
    authorName: z.string().nullable(),
    createdAt: z.iso.datetime(),
    changedAt: z.iso.datetime().nullable(),
  } satisfies Record<keyof ShownNote, z.ZodType>)
  .meta({ id: 'Note' });
