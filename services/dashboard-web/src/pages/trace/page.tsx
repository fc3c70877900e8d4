import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { apiQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { TraceDetails } from './trace-details.tsx';

/** All events of a trace over time. */
export function TracePage() {
  const { traceId = '' } = useParams({ strict: false });
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('traces.get', { spaceId, traceId }));
  if (error !== null || data === undefined) {
    return (
      <Page title="Trace">
        {error === null ? (
          <Loading rows={10} />
        ) : (
          <FailureNotice error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  return <TraceDetails trace={data} traceId={traceId} onReload={() => void refetch()} />;
}
