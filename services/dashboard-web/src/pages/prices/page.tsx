import { useQuery } from '@tanstack/react-query';
import { CircleDollarSign, Plus } from 'lucide-react';
import { useState } from 'react';
import { apiQuery } from '../../api/query.ts';
import { hasRole } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import type { Price } from './price.ts';
import { PriceDialog } from './price-dialog.tsx';
import { PriceTable } from './price-table.tsx';
import { UnpricedModels } from './unpriced-models.tsx';
import { UsedModels } from './used-models.tsx';

/** Prices of models: list prices, the operator's, and those that owners set for their space. The last of these applies. */
export function PricesPage() {
  const { id: spaceId, role } = useSpace();
  const { data, error: listError, refetch: refetchList } = useQuery(apiQuery('prices.list', { spaceId }));
  const models = useQuery(apiQuery('prices.models', { spaceId }));
  const error = listError ?? models.error;
  const refetch = () => Promise.all([refetchList(), models.refetch()]);
  const [edited, setEdited] = useState<Partial<Price>>();
  const canSet = hasRole(role, 'owner');
  return (
    <Page
      title="Prices"
      subtitle="US dollars per million tokens. A change also applies to past costs."
      actions={
        canSet && (
          <Button look="primary" onClick={() => setEdited({})}>
            <Plus aria-hidden />
            Set a price
          </Button>
        )
      }
    >
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
      ) : data === undefined || models.data === undefined ? (
        <Loading />
      ) : (
        <div className="flex flex-col gap-4">
          <UnpricedModels models={models.data} canSet={canSet} />
          <UsedModels
            models={models.data}
            onSet={canSet ? ({ model, price }) => setEdited({ ...price, model }) : undefined}
          />
          <Card title="Configured prices" isFlush>
            {data.length === 0 ? (
              <Notice icon={CircleDollarSign} title="No configured prices" isSmall>
                {canSet
                  ? 'Models have the list prices of their providers. Set a price to replace one.'
                  : 'Models have the list prices of their providers. An owner of the space can set prices.'}
              </Notice>
            ) : (
              <PriceTable prices={data} canSet={canSet} onEdit={setEdited} />
            )}
          </Card>
        </div>
      )}
      <PriceDialog price={edited} onClose={() => setEdited(undefined)} />
    </Page>
  );
}
