import { useParams } from '@tanstack/react-router';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { TraceDetails } from './trace-details.tsx';

export function TracePage() {
  const { traceId = '' } = useParams({ strict: false });
  const query = useSpaceQuery('traces.get', { traceId });
  return (
    <Loaded query={query} rows={10} frame={(state) => <Page title="Trace">{state}</Page>}>
      {(trace) => <TraceDetails trace={trace} traceId={traceId} onReload={() => void query.refetch()} />}
    </Loaded>
  );
}
