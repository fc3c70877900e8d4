import { Link } from '@tanstack/react-router';
import type { Output } from '../../api/paths.ts';
import { formatCount, formatCounted } from '../../format/number.ts';
import { useSpace } from '../../space/space.ts';

/** Says which traces have too many spans, and what is missing in their events. */
export function LargeTraces({ traces }: { traces: Output<'senders.largeTraces'> }) {
  const { id: spaceId } = useSpace();
  return (
    <div role="note" className="mb-3 rounded-md bg-warn-soft px-4 py-3 text-sm text-warn">
      <p className="font-medium">{formatCounted(traces.length, 'trace')} with more than 10,000 spans</p>
      <p className="mt-1">
        Weir does not relate spans of such traces that come in different requests: agents, threads and users
        of spans above are missing, and a call that two spans describe may be two events. Start one trace for
        each task or conversation.
      </p>
      <ul className="mt-1 space-y-0.5">
        {traces.map(({ traceId, spans }) => (
          <li key={traceId} className="[overflow-wrap:anywhere]">
            <Link to="/s/$spaceId/traces/$traceId" params={{ spaceId, traceId }} className="underline">
              {traceId}
            </Link>
            , {formatCount(spans)} spans
          </li>
        ))}
      </ul>
    </div>
  );
}
