import { diffArrays } from 'diff';
import { splitText } from '../text/marks.ts';
import type { LineRun } from './changes.ts';
import { compareLines } from './compare-lines.ts';

export interface ComparedMessage {
  role: string;
  text: string;
  /** Makes the message equal to another of its role: also the data of images, which the text only names. */
  key: string;
}

export interface WordRun {
  kind: LineRun['kind'];
  text: string;
}

/** Messages by place in each conversation: unchanged, changed, or of one conversation only. */
export type MessageRow =
  | { kind: 'same'; after: number; count: number }
  | { kind: 'changed'; before: number; after: number; words: WordRun[] }
  | { kind: 'removed'; before: number }
  | { kind: 'added'; after: number };

/** The words of texts that differ in very many places would take minutes. */
const wordsMs = 500;
const allWordsMs = 3_000;

/** The rows of two conversations in order; undefined when they were not found in time. */
export function compareMessages(
  before: readonly ComparedMessage[],
  after: readonly ComparedMessage[],
): MessageRow[] | undefined {
  const keysOf = (messages: readonly ComparedMessage[]) => messages.map(({ role, key }) => `${role}\n${key}`);
  const runs = compareLines(keysOf(before), keysOf(after));
  const endAtMs = performance.now() + allWordsMs;
  const rows: MessageRow[] = [];
  let [old, now, removed] = [0, 0, 0];
  const pushChanges = (added: number) => {
    for (let place = 0; place < Math.max(removed, added); place++) {
      const [one, other] = [before[old + place], after[now + place]];
      const isPair = place < removed && place < added && one?.role === other?.role && one && other;
      const words = isPair && performance.now() < endAtMs ? compareWords(one.text, other.text) : undefined;
      if (words) rows.push({ kind: 'changed', before: old + place, after: now + place, words });
      if (!words && place < removed) rows.push({ kind: 'removed', before: old + place });
      if (!words && place < added) rows.push({ kind: 'added', after: now + place });
    }
    old += removed;
    now += added;
    removed = 0;
  };
  for (const { kind, count } of runs ?? []) {
    if (kind === 'removed') removed = count;
    else pushChanges(kind === 'added' ? count : 0);
    if (kind !== 'same') continue;
    rows.push({ kind, after: now, count });
    old += count;
    now += count;
  }
  pushChanges(0);
  return runs && rows;
}

/** Texts that have a smaller part in common are easier to read one after the other. */
const commonShareMin = 0.2;

/** The words of two texts; undefined when too few are in common, all are, or they were not found in time. */
export function compareWords(before: string, after: string): WordRun[] | undefined {
  const runs = diffArrays(wordsOf(before), wordsOf(after), { timeout: wordsMs })?.map(
    ({ added, removed, value }): WordRun => ({
      kind: added ? 'added' : removed ? 'removed' : 'same',
      text: value.join(''),
    }),
  );
  const common = runs?.filter(({ kind }) => kind === 'same').reduce((sum, { text }) => sum + text.length, 0);
  if (runs === undefined || common === undefined || runs.every(({ kind }) => kind === 'same'))
    return undefined;
  return common < commonShareMin * Math.max(before.length, after.length) ? undefined : joinPhrases(runs);
}

const word =
  /(?:(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai})[\p{L}\p{M}\p{N}_])+|\s+|./gsu;

/** A part of a secret would not be masked. */
function wordsOf(text: string): string[] {
  return splitText(text).flatMap((part) =>
    part.kind === 'plain' ? (part.text.match(word) ?? []) : [part.text],
  );
}

/** Joins changed words with only a space between them: alternating colours cannot be read. */
function joinPhrases(runs: readonly WordRun[]): WordRun[] {
  const joined: WordRun[] = [];
  let [removed, added] = ['', ''];
  const pushPhrase = () => {
    if (removed !== '') joined.push({ kind: 'removed', text: removed });
    if (added !== '') joined.push({ kind: 'added', text: added });
    [removed, added] = ['', ''];
  };
  for (const [place, run] of runs.entries()) {
    const isGap = run.kind === 'same' && run.text.trim() === '' && removed !== '' && added !== '';
    const isInside = isGap && runs[place + 1] !== undefined;
    if (run.kind === 'removed' || isInside) removed += run.text;
    if (run.kind === 'added' || isInside) added += run.text;
    if (run.kind !== 'same' || isInside) continue;
    pushPhrase();
    joined.push(run);
  }
  pushPhrase();
  return joined;
}
