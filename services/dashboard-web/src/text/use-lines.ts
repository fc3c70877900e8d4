import { useMemo } from 'react';
import { useWorker } from '../api/use-worker.ts';
import { type NumberedLines, numberLines } from './split-lines.ts';

/** Longer texts are split in a worker, in characters: these take less time than the start of one. */
const syncCharsMax = 200_000;

const startSplitter = () => new Worker(new URL('./lines-worker.ts', import.meta.url), { type: 'module' });

/** The lines of a text, at most so many characters each; undefined while a long one is being split. */
export function useLines(text: string, charsMax: number): NumberedLines | undefined {
  const isShort = text.length <= syncCharsMax;
  const short = useMemo(() => (isShort ? numberLines(text, charsMax) : undefined), [text, charsMax, isShort]);
  const message = useMemo(() => (isShort ? undefined : { text, charsMax }), [text, charsMax, isShort]);
  const long = useWorker<{ text: string; charsMax: number }, NumberedLines>(startSplitter, message);
  return short ?? (long.state === 'done' ? long.result : undefined);
}
