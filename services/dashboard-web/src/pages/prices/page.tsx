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

/** Prices of models. Owners set prices for their space, which replace the operator's. */
export function PricesPage() {
  const { id: spaceId, role } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('prices.list', { spaceId }));
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
      <div className="flex flex-col gap-4">
        <Card isFlush>
          {error !== null ? (
            <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
          ) : data === undefined ? (
            <Loading />
          ) : data.length === 0 ? (
            <Notice icon={CircleDollarSign} title="No prices yet" isSmall>
              {canSet
                ? 'Set the price of a model to see what its calls cost.'
                : 'An owner of the space can set prices. Until then no cost is shown.'}
            </Notice>
          ) : (
            <PriceTable prices={data} canSet={canSet} onEdit={setEdited} />
          )}
        </Card>
        <UnpricedModels canSet={canSet} onSet={(model) => setEdited({ model })} />
      </div>
      <PriceDialog price={edited} onClose={() => setEdited(undefined)} />
    </Page>
  );
}
