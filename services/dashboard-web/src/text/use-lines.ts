import { useEffect, useMemo, useState } from 'react';
import { splitLines } from './split-lines.ts';

/** Longer texts are split in a worker, in characters: these take less time than the start of one. */
const syncCharsMax = 200_000;

/** The lines of a text, at most so many characters each; undefined while a long one is being split. */
export function useLines(text: string, charsMax: number): readonly string[] | undefined {
  const isShort = text.length <= syncCharsMax;
  const short = useMemo(() => (isShort ? splitLines(text, charsMax) : undefined), [text, charsMax, isShort]);
  const [long, setLong] = useState<{ text: string; lines: readonly string[] }>();
  useEffect(() => {
    if (isShort) return;
    const worker = new Worker(new URL('./lines-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<string[]>) => setLong({ text, lines: data }));
    worker.postMessage({ text, charsMax });
    return () => worker.terminate();
  }, [text, charsMax, isShort]);
  return short ?? (long?.text === text ? long.lines : undefined);
}
