import { asStored, storableText } from '../../event/text.ts';
import type { notes } from '../db/schema.ts';

export type NoteRow = typeof notes.$inferSelect;

/** What a note is on. */
export type NoteTarget = Pick<NoteRow, 'target' | 'targetId'>;

/** The author: a user, or an API key. */
export type NoteAuthor = Pick<NoteRow, 'author' | 'authorId'>;

/** What a note says. It has a label or a text. */
export interface NoteContent {
  readonly label?: string | undefined;
  readonly value?: string | number | boolean | undefined;
  /** A number beside a value that is a text. */
  readonly score?: number | undefined;
  readonly text?: string | undefined;
}

/** A note to store. */
export interface NewNote extends NoteTarget, NoteContent {
  /** A UUID that the sender chose. */
  readonly id: string;
  /** The span that was evaluated: the note is on its call, or else on its trace, once it is stored. */
  readonly span?: { readonly traceId: string; readonly spanId: string } | undefined;
}

/** Longest name of a label, in characters: it is typed in filters. */
export const labelCharsMax = 64;

/** Longest text of a note, in characters: a page. */
export const noteCharsMax = 4_000;

/** Notes on one event, thread or trace: people read them all. */
export const notesOfTargetMax = 100;

/** Notes of a space. Each takes some 300 bytes with its indexes; counting these takes 20 ms. */
export const notesOfSpaceMax = 250_000;

/** The columns with what a note says. */
export function contentColumns({
  label,
  value,
  score,
  text,
}: NoteContent): Pick<NoteRow, 'label' | 'value' | 'valueType' | 'score' | 'text'> {
  return {
    label: label === undefined ? null : storableText(label),
    value: value === undefined ? null : asStored(String(value)),
    valueType: value === undefined ? null : typeOf(value),
    score: typeof value === 'number' || typeof value === 'boolean' ? Number(value) : (score ?? null),
    text: text === undefined ? null : storableText(text),
  };
}

function typeOf(value: string | number | boolean): NonNullable<NoteRow['valueType']> {
  return typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'boolean';
}

/** The value as it was sent. */
export function sentValueOf({
  value,
  valueType,
  score,
}: Pick<NoteRow, 'value' | 'valueType' | 'score'>): string | number | boolean | null {
  if (valueType === 'number') return score;
  return valueType === 'boolean' ? score === 1 : value;
}
