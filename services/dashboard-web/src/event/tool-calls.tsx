import { ArrowRight, Wrench } from 'lucide-react';
import { useMemo, useState } from 'react';
import { formatCounted, formatDuration } from '../format/number.ts';
import { SpaceLink } from '../space/space.tsx';
import { useSpaceQuery } from '../space/use-space-query.ts';
import { useIsFound } from '../text/found-marks.tsx';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { StateBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/loaded.tsx';
import { isCut, type ListedEvent, showPreview, useEventText, type WholeEvent } from './event-query.ts';
import type { ToolCall } from './event-text.ts';
import { Payload } from './payload.tsx';
import { Turn } from './turn.tsx';

interface ToolCallCardProps {
  call: ToolCall;
  /** The tool's event; undefined when there is none. */
  result: ListedEvent | undefined;
  isFolded: boolean;
}

function ToolCallCard({ call, result, isFolded }: ToolCallCardProps) {
  return (
    <Turn
      icon={Wrench}
      isFolded={isFolded}
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
        <span className="text-muted">No arguments.</span>
      )}
      {result !== undefined && (
        <div className="mt-2.5 border-line border-t pt-2.5">
          <SpaceLink page="event" id={result.id} className="group flex flex-wrap items-center gap-2 text-sm">
            <span className="font-medium group-hover:underline">Result</span>
            <StateBadge state={result.state} />
            <span className="text-muted">{formatDuration(result.durationMs)}</span>
            <span className="text-faint text-xs" title="Events do not name the call that caused them.">
              inferred: the next call of this tool in the trace
            </span>
            <ArrowRight aria-hidden className="size-3.5 text-faint" />
          </SpaceLink>
          <Result result={result} />
        </div>
      )}
    </Turn>
  );
}

/** The preview, and all of it on a click, since it may be megabytes. */
function Result({ result }: { result: ListedEvent }) {
  const [isWhole, setWhole] = useState(false);
  const { data, error } = useEventText(isWhole ? result.id : undefined);
  const output = data?.tool?.output;
  const { errorMessage, outputPreview } = result;
  if (error !== null) return <FailureNotice error={error} isSmall />;
  if (output !== undefined)
    return <Payload text={output} label={`Result of ${describeText(result.name ?? '')}`} />;
  const preview = errorMessage ?? outputPreview;
  if (preview === null) return null;
  return (
    <p dir="auto" className="mt-1.5 text-muted [overflow-wrap:anywhere]">
      <ShownText text={errorMessage ?? showPreview(preview)} className="line-clamp-3 whitespace-pre-wrap" />
      {errorMessage === null && isCut(preview) && (
        <Button
          look="quiet"
          size="small"
          className="-ml-2"
          disabled={isWhole}
          onClick={() => setWhole(true)}
          text="Show the whole result"
        />
      )}
    </p>
  );
}

/** Tool events of a trace that are searched for the results of its calls. */
const searchedMax = 200;

/** Calls shown at first, and calls that are open: each open card draws a tree of its arguments. */
const shownMax = 20;
const openMax = 10;

/** The calls that a model asked for, each with the tool's event that followed. */
export function ToolCalls({ calls, event }: { calls: readonly ToolCall[]; event: WholeEvent }) {
  const isFound = useIsFound();
  const [isChosen, setAll] = useState(false);
  const isAll = isChosen || calls.slice(shownMax).some(({ input = '' }) => isFound(input));
  const { data } = useSpaceQuery(
    'events.list',
    { traceId: event.traceId ?? '', type: 'tool', from: event.startTimeMs, limit: searchedMax },
    { enabled: event.traceId !== null && calls.length > 0 },
  );
  const results = useMemo(() => inferResults(calls, data?.events ?? []), [calls, data]);
  const shown = isAll ? calls : calls.slice(0, shownMax);
  return (
    <>
      {shown.map((call, index) => (
        <ToolCallCard
          // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an event never change their order.
          key={index}
          call={call}
          result={results[index]}
          isFolded={index >= openMax && !isFound(call.input ?? '')}
        />
      ))}
      {shown.length < calls.length && (
        <Button
          onClick={() => setAll(true)}
          text={`Show ${formatCounted(calls.length - shown.length, 'more call')}`}
        />
      )}
    </>
  );
}

/** The n-th event of a tool after the model's call is the result of its n-th call. */
function inferResults(
  calls: readonly ToolCall[],
  newestFirst: readonly ListedEvent[],
): (ListedEvent | undefined)[] {
  const byName = Map.groupBy(newestFirst.toReversed(), ({ name }) => name);
  const used = new Map<string, number>();
  return calls.map(({ name }) => {
    const place = used.get(name) ?? 0;
    used.set(name, place + 1);
    return byName.get(name)?.[place];
  });
}
