import { useEffect, useState } from 'react';
import type { LineRun } from './changes.ts';

export type Diff = { state: 'working' } | { state: 'failed' } | { state: 'done'; runs: LineRun[] };

/** Compares lines in a worker. `failed`: they differ too much to be compared in time. */
export function useDiff(before: readonly string[], after: readonly string[]): Diff {
  const [diff, setDiff] = useState<Diff>({ state: 'working' });
  useEffect(() => {
    setDiff({ state: 'working' });
    const worker = new Worker(new URL('./diff-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<LineRun[] | undefined>) =>
      setDiff(data === undefined ? { state: 'failed' } : { state: 'done', runs: data }),
    );
    worker.addEventListener('error', () => setDiff({ state: 'failed' }));
    worker.postMessage({ before, after });
    return () => worker.terminate();
  }, [before, after]);
  return diff;
}
