import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../api/query.ts';
import { recentRanges } from '../../filter/recent-range.ts';
import { formatCompact, formatShare } from '../../format/number.ts';
import { useSpace } from '../../space/space.ts';
import { describeText } from '../../text/marks.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { FailureNotice } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

/** Models of the last 30 days with tokens that have no price. No cost includes these tokens. */
export function UnpricedModels({ canSet, onSet }: { canSet: boolean; onSet: (model: string) => void }) {
  const { id: spaceId } = useSpace();
  const [now] = useState(Date.now);
  const range = { from: now - recentRanges['30d'].ms, to: now, step: 'day' as const };
  const { data, error } = useQuery(apiQuery('charts.costs', { spaceId, ...range }));
  if (error !== null) return <FailureNotice error={error} isSmall />;
  const models = data?.models.filter(({ tokens, pricedTokens }) => pricedTokens < tokens) ?? [];
  if (models.length === 0) return null;
  return (
    <Card title="Models without a price, last 30 days" isFlush>
      <Table
        caption="Models without a price"
        rows={models}
        keyOf={({ model }) => model ?? ''}
        columns={[
          {
            title: 'Model',
            className: 'min-w-36 max-w-72 font-medium [overflow-wrap:anywhere]',
            cell: ({ model }) => <ShownText text={model ?? 'All others'} />,
          },
          { title: 'Tokens', isNumber: true, cell: ({ tokens }) => formatCompact(tokens) },
          {
            title: 'Priced',
            isNumber: true,
            cell: ({ tokens, pricedTokens }) => formatShare(pricedTokens / tokens),
          },
          ...(canSet
            ? [
                {
                  title: 'Actions',
                  isPinned: true,
                  isNumber: true,
                  cell: ({ model }: (typeof models)[number]) =>
                    model !== null &&
                    model !== '' && (
                      <Button
                        size="small"
                        aria-label={`Set a price for ${describeText(model)}`}
                        onClick={() => onSet(model)}
                      >
                        Set a price
                      </Button>
                    ),
                },
              ]
            : []),
        ]}
      />
    </Card>
  );
}
