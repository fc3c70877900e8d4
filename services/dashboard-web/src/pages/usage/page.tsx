import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { PlanCard } from './plan-card.tsx';
import { UsageDays } from './usage-days.tsx';

/** The month's usage, the limit, and what happens when it is reached. */
export function UsagePage() {
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('usage.current', { spaceId }));
  return (
    <Page title="Usage & plan" subtitle="Events are counted when they are stored, once each, by UTC month.">
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <div className="flex flex-col gap-4">
          <PlanCard usage={data} />
          <UsageDays />
        </div>
      )}
    </Page>
  );
}
