import { useMemo } from 'react';
import { useWorker } from '../../api/use-worker.ts';
import type { LineRun } from '../../compare/changes.ts';
import { type DiffLook, DiffView, type RowNote } from '../../compare/diff-view.tsx';
import { formatCounted } from '../../format/number.ts';
import { Loading } from '../../ui/loaded.tsx';

interface LineComparisonProps {
  before: string[];
  after: string[];
  look: DiffLook;
  note?: RowNote;
}

export function LineComparison({ before, after, look, note }: LineComparisonProps) {
  const message = useMemo(() => ({ of: 'lines' as const, before, after }), [before, after]);
  const diff = useWorker<typeof message, LineRun[]>(startDiff, message);
  if (diff.state !== 'done') return <NoDiff isWorking={diff.state === 'working'} />;
  return (
    <>
      <p role="status" className="shrink-0 border-line border-b px-4 py-1.5 text-muted text-xs md:px-6">
        {summarize(diff.result)}
      </p>
      <DiffView before={before} after={after} runs={diff.result} look={look} note={note} />
    </>
  );
}

function summarize(runs: readonly LineRun[]): string {
  const count = (kind: LineRun['kind']) =>
    runs.filter((run) => run.kind === kind).reduce((sum, run) => sum + run.count, 0);
  const [removed, added] = [count('removed'), count('added')];
  if (removed + added === 0) return 'No differences.';
  return `${formatCounted(removed, 'line')} removed, ${formatCounted(added, 'line')} added.`;
}

/** Starts the worker that compares texts and conversations, for `useWorker`. */
export const startDiff = () =>
  new Worker(new URL('../../compare/diff-worker.ts', import.meta.url), { type: 'module' });

/** In place of a comparison that is not ready, or was not found in time. */
export function NoDiff({ isWorking }: { isWorking: boolean }) {
  if (isWorking) return <Loading rows={10} label="Comparing" />;
  return (
    <p role="alert" className="p-6 text-center text-muted text-sm">
      These texts differ in too many places to compare.
    </p>
  );
}
