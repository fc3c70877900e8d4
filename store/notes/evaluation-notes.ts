import { and, eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { TraceNodes } from '../../platform/queue/group.ts';
import type { Database } from '../db/database.ts';
import { traceNodes } from '../db/schema.ts';
import type { NewNote, NoteTarget } from './note.ts';
import { storeNotes } from './store-notes.ts';

/** The result of an evaluation, as ingest queues it. */
const sentNote = z.object({
  id: z.guid(),
  label: z.string(),
  value: z.string().optional(),
  score: z.number().optional(),
  text: z.string().optional(),
  traceId: z.guid().optional(),
  /** The evaluated span, in hexadecimal, and the event that it became if it is a call. */
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
 * Stores the notes of messages, after their spans, so that one on a span that is no call is one on its trace.
 *
 * @returns how many were not stored: see storeNotes.
 */
export async function storeEvaluations(
  database: Database,
  spaceId: string,
  sent: readonly Pick<TraceNodes, 'notes' | 'apiKeyId' | 'receivedAtMs'>[],
): Promise<number> {
  let refused = 0;
  for (const { notes: json, apiKeyId, receivedAtMs } of sent) {
    if (json === '') continue;
    const all = z.array(sentNote).parse(JSON.parse(json));
    for (let from = 0; from < all.length; from += notesAtOnceMax) {
      const notes = await resolveTargets(database, spaceId, all.slice(from, from + notesAtOnceMax));
      const author = { author: 'key', authorId: apiKeyId } as const;
      const createdAt = new Date(Number(receivedAtMs));
      refused += (await storeNotes(database, spaceId, { notes, ...author, createdAt })).length;
    }
  }
  return refused;
}

async function resolveTargets(
  database: Database,
  spaceId: string,
  sent: readonly SentNote[],
): Promise<NewNote[]> {
  const { traceId, spanId, eventId, mergedEventId } = traceNodes;
  const ofSpans = sent.filter((note) => note.spanId !== undefined);
  const idsOf = (name: 'traceId' | 'spanId') => [...new Set(ofSpans.flatMap((note) => note[name] ?? []))];
  const found =
    ofSpans.length === 0
      ? []
      : await database
          .select({ traceId, spanId, eventId, mergedEventId })
          .from(traceNodes)
          .where(
            and(
              eq(traceNodes.spaceId, spaceId),
              inArray(traceId, idsOf('traceId')),
              inArray(spanId, idsOf('spanId')),
            ),
          );
  const nodes = new Map(found.map((node) => [`${node.traceId} ${node.spanId}`, node]));
  return sent.map(({ id, label, value, score, text, ...on }) => ({
    ...{ id, label, value: value ?? score, score, text },
    ...targetOf(on, nodes.get(`${on.traceId} ${on.spanId}`)),
  }));
}

function targetOf(
  on: Pick<SentNote, 'traceId' | 'eventId' | 'threadId'>,
  node: { eventId: string | null; mergedEventId: string | null } | undefined,
): NoteTarget {
  // A span that has not come yet is expected to be a call.
  const eventId = node === undefined ? on.eventId : (node.mergedEventId ?? node.eventId ?? undefined);
  if (eventId !== undefined) return { target: 'event', targetId: eventId };
  if (on.traceId !== undefined) return { target: 'trace', targetId: on.traceId };
  return { target: 'thread', targetId: on.threadId ?? '' };
}
