import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { eventQuery } from '../../event/event-query.ts';
import { useSpace } from '../../space/space.ts';
import { Loaded, together } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { ChooseSides } from './choose-sides.tsx';
import { Comparison } from './comparison.tsx';
import { TraceComparison } from './trace-comparison.tsx';

/**
 * Two events, or with `of=trace` two traces, side by side: `a` and `b` of the address. Without one of them, or
 * when one is not found, it asks for the ids.
 */
export function ComparePage() {
  const { a = '', b = '', of } = useSearchTexts();
  const isTrace = of === 'trace';
  if (a === '' || b === '')
    return (
      <Page title="Compare">
        <ChooseSides noun={isTrace ? 'trace' : 'event'} a={a} b={b} />
      </Page>
    );
  return isTrace ? <Traces a={a} b={b} /> : <Events a={a} b={b} />;
}

function Events({ a, b }: { a: string; b: string }) {
  const { id: spaceId } = useSpace();
  const query = together(useQuery(eventQuery(spaceId, a)), useQuery(eventQuery(spaceId, b)));
  return (
    <Loaded query={query} rows={10} label="Loading the events" frame={frameOf('event', a, b)}>
      {([before, after]) => <Comparison before={before} after={after} />}
    </Loaded>
  );
}

function Traces({ a, b }: { a: string; b: string }) {
  const { id: spaceId } = useSpace();
  const query = together(
    useQuery(apiQuery('traces.get', { spaceId, traceId: a })),
    useQuery(apiQuery('traces.get', { spaceId, traceId: b })),
  );
  return (
    <Loaded query={query} rows={10} label="Loading the traces" frame={frameOf('trace', a, b)}>
      {(traces) => <TraceComparison ids={[a, b]} traces={traces} />}
    </Loaded>
  );
}

function frameOf(noun: 'event' | 'trace', a: string, b: string) {
  return (state: React.ReactNode) => (
    <Page title="Compare">
      {state}
      <ChooseSides noun={noun} a={a} b={b} />
    </Page>
  );
}
