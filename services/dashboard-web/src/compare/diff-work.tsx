import { Loading } from '../ui/loaded.tsx';

/** Starts the worker that compares texts and conversations, for `useWorker`. */
export const startDiff = () => new Worker(new URL('./diff-worker.ts', import.meta.url), { type: 'module' });

/** In place of a comparison that is not ready, or was not found in time. */
export function NoDiff({ isWorking }: { isWorking: boolean }) {
  if (isWorking) return <Loading rows={10} label="Comparing" />;
  return (
    <p role="alert" className="p-6 text-center text-muted text-sm">
      These texts differ in too many places to compare.
    </p>
  );
}
