import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { apiQuery } from '../api/query.ts';
import { formatCounted } from '../format/number.ts';
import { useSpace } from '../space/space.ts';
import { Button } from '../ui/button.tsx';
import type { ListedEvent, WholeEvent } from './event-query.ts';
import type { ToolCall } from './event-text.ts';
import { ToolCallCard } from './tool-call-card.tsx';

/** Tool events of a trace that are searched for the results of its calls. */
const searchedMax = 200;

/** Calls shown at first, and calls that are open: each open card draws a tree of its arguments. */
const shownMax = 20;
const openMax = 10;

/** The calls that a model asked for, each with the tool's event that followed. */
export function ToolCalls({ calls, event }: { calls: readonly ToolCall[]; event: WholeEvent }) {
  const { id: spaceId } = useSpace();
  const [isAll, setAll] = useState(false);
  const { data } = useQuery({
    ...apiQuery('events.list', {
      spaceId,
      traceId: event.traceId ?? '',
      type: 'tool',
      from: event.startTimeMs,
      limit: searchedMax,
    }),
    enabled: event.traceId !== null && calls.length > 0,
  });
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
          isFolded={index >= openMax}
        />
      ))}
      {shown.length < calls.length && (
        <Button onClick={() => setAll(true)}>
          Show {formatCounted(calls.length - shown.length, 'more call')}
        </Button>
      )}
    </>
  );
}

/** The result of each call: the n-th event of a tool after the model's call is the result of its n-th call. */
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
