import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, Wrench } from 'lucide-react';
import { apiQuery } from '../api/query.ts';
import { formatDuration } from '../format/number.ts';
import { useSpace } from '../space/space.ts';
import { describeText } from '../text/marks.ts';
import { ShownText } from '../text/shown-text.tsx';
import { StateBadge } from '../ui/badge.tsx';
import type { ListedEvent, WholeEvent } from './event-query.ts';
import type { ToolCall } from './event-text.ts';
import { Payload } from './payload.tsx';
import { Turn } from './turn.tsx';

/** Events of a trace that are searched for the results of its calls. */
const searchedMax = 200;

/** A call that the model asked for, together with the tool's event that followed. */
export function ToolCallCard({
  call,
  place,
  calls,
  event,
}: {
  call: ToolCall;
  place: number;
  calls: readonly ToolCall[];
  event: WholeEvent;
}) {
  const { id: spaceId } = useSpace();
  const { data } = useQuery({
    ...apiQuery('events.list', {
      spaceId,
      traceId: event.traceId ?? '',
      type: 'tool',
      from: event.startTimeMs,
      limit: searchedMax,
    }),
    enabled: event.traceId !== null,
  });
  const result = data && inferResult(call, place, calls, data.events);
  return (
    <Turn
      icon={Wrench}
      tone={result?.state === 'error' ? 'bad' : 'tool'}
      title={
        <>
          Calls <ShownText text={call.name} />
        </>
      }
    >
      {call.input ? (
        <Payload text={call.input} label={`Arguments of ${describeText(call.name)}`} />
      ) : (
        <span className="text-muted">Without arguments.</span>
      )}
      {result !== undefined && (
        <div className="mt-2.5 border-line border-t pt-2.5">
          <Link
            to="/s/$spaceId/events/$eventId"
            params={{ spaceId, eventId: result.id }}
            className="group flex flex-wrap items-center gap-2 text-sm"
          >
            <span className="font-medium group-hover:underline">Result</span>
            <StateBadge state={result.state} />
            <span className="text-muted">{formatDuration(result.durationMs)}</span>
            <span className="text-faint text-xs" title="Events do not name the call that caused them.">
              inferred: the next call of this tool in the trace
            </span>
            <ArrowRight aria-hidden className="size-3.5 text-faint" />
          </Link>
          {(result.errorMessage ?? result.outputPreview) !== null && (
            <p className="mt-1.5 line-clamp-3 whitespace-pre-wrap text-muted [overflow-wrap:anywhere]">
              <ShownText text={result.errorMessage ?? result.outputPreview ?? ''} />
            </p>
          )}
        </div>
      )}
    </Turn>
  );
}

/** The n-th tool event of the name after the model's call belongs to the n-th call of that name. */
function inferResult(
  call: ToolCall,
  place: number,
  calls: readonly ToolCall[],
  events: readonly ListedEvent[],
) {
  const earlier = calls.slice(0, place).filter(({ name }) => name === call.name).length;
  return events.filter(({ name }) => name === call.name).toReversed()[earlier];
}
