import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { Dashboard } from './dashboard.tsx';
import { FirstEvent } from './first-event.tsx';
import { Recent } from './recent.tsx';

/** Poll interval of a space without events, in milliseconds. */
const waitingPollMs = 1_000;
const recentEvents = 8;

/** The overview of a space; before its first event, instructions for sending one. */
export function OverviewPage() {
  const { id: spaceId, name } = useSpace();
  const { data, error, refetch } = useQuery({
    ...apiQuery('events.list', { spaceId, limit: recentEvents }),
    // Any stored event ends the wait.
    refetchInterval: ({ state }) => (state.data?.events.length === 0 ? waitingPollMs : false),
  });
  if (error === null && data?.events.length === 0) return <FirstEvent />;
  return (
    <Page title="Overview" subtitle={name}>
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <div className="flex flex-col gap-4">
          <Dashboard />
          <Recent events={data.events} />
        </div>
      )}
    </Page>
  );
}
