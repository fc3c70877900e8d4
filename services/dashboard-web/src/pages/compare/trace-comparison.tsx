import { GitCompareArrows } from 'lucide-react';
import { useMemo } from 'react';
import type { Output } from '../../api/query.ts';
import { tokensOf } from '../../event/event-query.ts';
import { formatCount, formatDuration } from '../../format/number.ts';
import { describeCost, sumCosts } from '../../format/priced.ts';
import { formatTime } from '../../format/time.ts';
import { SpaceLink } from '../../space/space.tsx';
import { Page } from '../../ui/page.tsx';
import { Sides } from './comparison.tsx';
import { type Facts, FactsTable } from './facts.tsx';
import { LineComparison } from './line-comparison.tsx';

type Trace = Output<'traces.get'>;

interface TraceComparisonProps {
  ids: [string, string];
  traces: [Trace, Trace];
}

/** Call by call, in order of time. A call that both have leads to the comparison of its two events. */
export function TraceComparison({ ids, traces: [before, after] }: TraceComparisonProps) {
  const [old, now] = useMemo(() => [callsOf(before), callsOf(after)], [before, after]);
  const linkOf = (id: string, { events: [first] }: Trace) => (
    <SpaceLink key={id} page="trace" id={id} className="max-w-full truncate hover:text-ink hover:underline">
      {first === undefined ? id : formatTime(first.startTimeMs)}
    </SpaceLink>
  );
  return (
    <Page
      title="Compare"
      isWide
      subtitle={<Sides ids={ids} links={[linkOf(ids[0], before), linkOf(ids[1], after)]} />}
    >
      <div className="shrink-0 px-4 pb-4 md:px-6">
        <FactsTable before={factsOf(before)} after={factsOf(after)} />
      </div>
      <LineComparison
        before={old}
        after={now}
        look="split"
        note={(left, right) => <CallNote calls={[before.events[left], after.events[right]]} />}
      />
    </Page>
  );
}

type Call = Trace['events'][number] | undefined;

/** How long the calls of a row took, and a link that compares them where both traces have one. */
function CallNote({ calls: [one, other] }: { calls: [Call, Call] }) {
  const durations = [one, other].flatMap((call) =>
    call === undefined ? [] : formatDuration(call.durationMs),
  );
  return (
    <span className="flex w-10 shrink-0 items-center justify-end gap-2 pr-2 font-sans text-muted md:w-44">
      <span className="max-md:hidden">{durations.join(' → ')}</span>
      {one !== undefined && other !== undefined && (
        <SpaceLink
          page="compare"
          search={{ a: one.id, b: other.id }}
          aria-label="Compare the two events"
          className="hover:text-ink"
        >
          <GitCompareArrows aria-hidden className="size-3.5" />
        </SpaceLink>
      )}
    </span>
  );
}

function callsOf({ events }: Trace): string[] {
  return events.map(({ type, name, state, errorCode }) =>
    [type === 'llm' ? 'LLM' : 'Tool', name ?? 'unnamed', state === 'error' && `failed ${errorCode ?? ''}`]
      .filter(Boolean)
      .join(' ')
      .replaceAll(/[\r\n]+/g, ' '),
  );
}

function factsOf({ events }: Trace): Facts {
  const sum = (value: (event: Trace['events'][number]) => number | null) =>
    events.reduce((total, event) => total + (value(event) ?? 0), 0);
  const startMs = Math.min(...events.map(({ startTimeMs }) => startTimeMs));
  const endMs = Math.max(...events.map(({ endTimeMs }) => endTimeMs));
  const cost = sumCosts(events);
  const failed = events.filter(({ state }) => state === 'error').length;
  return {
    Duration: formatDuration(endMs - startMs),
    Events: formatCount(events.length),
    Errors: formatCount(failed),
    Tokens: formatCount(sum(tokensOf)),
    Cost: cost === undefined ? null : describeCost(cost),
    Models:
      [...new Set(events.flatMap(({ type, name }) => (type === 'llm' && name !== null ? name : [])))].join(
        ', ',
      ) || null,
  };
}
