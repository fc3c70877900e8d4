import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { apiQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { TraceDetails } from './trace-details.tsx';

export function TracePage() {
  const { traceId = '' } = useParams({ strict: false });
  const { id: spaceId } = useSpace();
  const query = useQuery(apiQuery('traces.get', { spaceId, traceId }));
  return (
    <Loaded query={query} rows={10} frame={(state) => <Page title="Trace">{state}</Page>}>
      {(trace) => <TraceDetails trace={trace} traceId={traceId} onReload={() => void query.refetch()} />}
    </Loaded>
  );
}
