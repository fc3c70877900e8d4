import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { PlanCard } from './plan-card.tsx';
import { UsageDays } from './usage-days.tsx';

/** The month's usage, the limit, and the effect of reaching it. */
export function UsagePage() {
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('usage.current', { spaceId }));
  return (
    <Page
      title="Usage & plan"
      subtitle="Each stored event counts once, in the UTC month in which it was stored."
    >
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
