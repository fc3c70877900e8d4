import { Link } from '@tanstack/react-router';
import { GitCompareArrows, X } from 'lucide-react';
import { useEffect } from 'react';
import { buttonClasses, IconButton } from '../ui/button.tsx';
import { clearTicked, useTicked } from './ticked.ts';

/** Above all pages of a space: the ticked events, and the link that compares them, the earlier one first. */
export function CompareBar({ spaceId }: { spaceId: string }) {
  const ticked = useTicked();
  // biome-ignore lint/correctness/useExhaustiveDependencies: events of two spaces cannot be compared.
  useEffect(() => clearTicked, [spaceId]);
  const [a, b] = ticked.toSorted((one, other) => one.startTimeMs - other.startTimeMs);
  if (a === undefined) return null;
  return (
    <section
      aria-label="Events to compare"
      className="fixed bottom-4 left-1/2 z-40 flex w-max max-w-[calc(100vw-2rem)] -translate-x-1/2 animate-appear items-center gap-2 rounded-lg border border-line bg-raised py-1.5 pr-1.5 pl-4 shadow-pop"
    >
      <p role="status" className="text-sm">
        {b === undefined ? 'Tick another event' : '2 events ticked'}
      </p>
      {b !== undefined && (
        <Link
          to="/s/$spaceId/compare"
          params={{ spaceId }}
          search={{ a: a.id, b: b.id }}
          onClick={clearTicked}
          className={buttonClasses('primary', 'small')}
        >
          <GitCompareArrows aria-hidden />
          Compare
        </Link>
      )}
      <IconButton label="Untick all" onClick={clearTicked}>
        <X aria-hidden />
      </IconButton>
    </section>
  );
}
