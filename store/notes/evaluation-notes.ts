import { z } from 'zod';
import type { TraceNodes } from '../../platform/queue/group.ts';
import type { Database } from '../db/database.ts';
import type { NewNote } from './note.ts';
import { storeNotes } from './store-notes.ts';

/** The result of an evaluation, as ingest queues it. */
const sentNote = z.object({
  id: z.guid(),
  label: z.string(),
  value: z.string().optional(),
  score: z.number().optional(),
  text: z.string().optional(),
  traceId: z.guid().optional(),
  /** The evaluated span, in hexadecimal, and the event that it becomes if it is a call. */
  spanId: z.string().optional(),
  eventId: z.guid().optional(),
  threadId: z.string().optional(),
});
export type SentNote = z.infer<typeof sentNote>;

/** Longest JSON array of notes in one message, in characters, and the notes of one statement. */
const jsonCharsMax = 256 * 1024;
const notesAtOnceMax = 100;

/** JSON arrays for weir.queue.v1.TraceNodes. */
export function encodeNotes(notes: readonly SentNote[]): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let chars = 0;
  for (const json of notes.map((note) => JSON.stringify(note))) {
    if (open.length > 0 && chars + json.length > jsonCharsMax) {
      chunks.push(`[${open.join()}]`);
      [open, chars] = [[], 0];
    }
    open.push(json);
    chars += json.length + 1;
  }
  if (open.length > 0) chunks.push(`[${open.join()}]`);
  return chunks;
}

/**
 * Stores the notes of messages. One on a span is on its call, or on its trace when it is none: as a call
 * until its span is stored, and for good when its trace, which becomes unresolved, is resolved.
 *
 * @returns how many were not stored, see storeNotes, and whether a trace is unresolved.
 */
export async function storeEvaluations(
  database: Database,
  spaceId: string,
  sent: readonly Pick<TraceNodes, 'notes' | 'apiKeyId' | 'receivedAtMs'>[],
): Promise<{ refused: number; isUnresolved: boolean }> {
  const stored = { refused: 0, isUnresolved: false };
  for (const { notes: json, apiKeyId, receivedAtMs } of sent) {
    if (json === '') continue;
    const all = z.array(sentNote).parse(JSON.parse(json)).map(toNote);
    for (let from = 0; from < all.length; from += notesAtOnceMax) {
      const notes = all.slice(from, from + notesAtOnceMax);
      const author = { author: 'key', authorId: apiKeyId } as const;
      const createdAt = new Date(Number(receivedAtMs));
      stored.refused += (await storeNotes(database, spaceId, { notes, ...author, createdAt })).length;
      if (notes.some(({ span }) => span !== undefined)) stored.isUnresolved = true;
    }
  }
  return stored;
}

function toNote({ value, traceId, spanId, eventId, threadId, ...note }: SentNote): NewNote {
  const said = { ...note, value: value ?? note.score };
  if (traceId === undefined) return { ...said, target: 'thread', targetId: threadId ?? '' };
  if (eventId === undefined || spanId === undefined) return { ...said, target: 'trace', targetId: traceId };
  return { ...said, target: 'event', targetId: eventId, span: { traceId, spanId } };
}
