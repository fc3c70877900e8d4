import { useQuery } from '@tanstack/react-query';
import { BellPlus } from 'lucide-react';
import { useState } from 'react';
import { apiQuery } from '../../api/query.ts';
import { hasRole } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import type { Rule } from './alert-text.ts';
import { HistoryCard } from './history-card.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { RuleTable } from './rule-table.tsx';
import { TargetCard } from './target-card.tsx';

/** How often the state of alerts is read, in milliseconds. */
const stateMs = 10_000;

/** Alerts on the statistics of the space, where they are sent, and what happened. */
export function AlertsPage() {
  const { id: spaceId, role, name } = useSpace();
  const [edited, setEdited] = useState<Rule | 'new'>();
  const mayChange = hasRole(role, 'admin');
  const { data, error, refetch } = useQuery({
    ...apiQuery('alerts.list', { spaceId }),
    refetchInterval: stateMs,
  });
  return (
    <Page
      title="Alerts"
      subtitle={name}
      actions={
        mayChange && (
          <Button look="primary" onClick={() => setEdited('new')}>
            <BellPlus aria-hidden />
            New alert
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <Card isFlush>
          {error !== null ? (
            <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
          ) : data === undefined ? (
            <Loading rows={3} />
          ) : (
            <RuleTable rules={data} onEdit={setEdited} />
          )}
        </Card>
        {mayChange && <TargetCard />}
        <HistoryCard refetchMs={stateMs} />
      </div>
      {mayChange && <RuleDialog edited={edited} onClose={() => setEdited(undefined)} />}
    </Page>
  );
}
