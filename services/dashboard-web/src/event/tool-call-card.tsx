import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, Wrench } from 'lucide-react';
import { useMemo, useState } from 'react';
import { apiQuery } from '../api/query.ts';
import { formatDuration } from '../format/number.ts';
import { useSpace } from '../space/space.ts';
import { describeText } from '../text/marks.ts';
import { ShownText } from '../text/shown-text.tsx';
import { StateBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/states.tsx';
import { eventQuery, isCut, type ListedEvent, showPreview, type WholeEvent } from './event-query.ts';
import { readEventText, type ToolCall } from './event-text.ts';
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
          <Result result={result} />
        </div>
      )}
    </Turn>
  );
}

/** What the tool returned: the preview of the list, and all of it on a click, since it may be megabytes. */
function Result({ result }: { result: ListedEvent }) {
  const { id: spaceId } = useSpace();
  const [isWhole, setWhole] = useState(false);
  const { data, error } = useQuery({ ...eventQuery(spaceId, result.id), enabled: isWhole });
  const output = useMemo(() => data && readEventText(data.event).tool?.output, [data]);
  const { errorMessage, outputPreview } = result;
  if (error !== null) return <FailureNotice error={error} isSmall />;
  if (output !== undefined)
    return <Payload text={output} label={`Result of ${describeText(result.name ?? '')}`} />;
  const preview = errorMessage ?? outputPreview;
  if (preview === null) return null;
  return (
    <p className="mt-1.5 text-muted [overflow-wrap:anywhere]">
      <span className="line-clamp-3 whitespace-pre-wrap">
        <ShownText text={errorMessage ?? showPreview(preview)} />
      </span>
      {errorMessage === null && isCut(preview) && (
        <Button look="quiet" size="small" className="-ml-2" disabled={isWhole} onClick={() => setWhole(true)}>
          Show the whole result
        </Button>
      )}
    </p>
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
