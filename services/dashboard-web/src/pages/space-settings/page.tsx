import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { DeleteCard } from './delete-card.tsx';
import { ErasureCard } from './erasure-card.tsx';
import { ErasureList } from './erasure-list.tsx';
import { NameCard } from './name-card.tsx';
import { OperatorCard } from './operator-card.tsx';
import { RetentionCard } from './retention-card.tsx';

/** What admins and owners of a space can change, and what only the operator can. */
export function SpaceSettingsPage() {
  const { id: spaceId, name } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('spaces.get', { spaceId }));
  return (
    <Page title="Space settings" subtitle={name}>
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <div className="flex flex-col gap-4">
          <div className="grid gap-4 lg:grid-cols-2">
            <NameCard />
            <OperatorCard space={data} />
          </div>
          <RetentionCard retentionDays={data.retentionDays} />
          <ErasureCard />
          <ErasureList />
          <DeleteCard />
        </div>
      )}
    </Page>
  );
}
