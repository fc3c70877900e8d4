import { BellPlus } from 'lucide-react';
import { useState } from 'react';
import { polled } from '../../api/failure.ts';
import type { Output } from '../../api/query.ts';
import { filterOf } from '../../filter/conditions.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatMinute } from '../../format/time.ts';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { Table, Time } from '../../table/table.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Page, QueryCard } from '../../ui/page.tsx';
import type { Rule } from './alert-text.ts';
import { RuleDialog } from './rule-dialog.tsx';
import { RuleTable } from './rule-table.tsx';
import { TargetCard } from './target-card.tsx';

const stateMs = 10_000;

export function AlertsPage() {
  const { role, name } = useSpace();
  const { search, set } = useFilter();
  const [changed, setChanged] = useState<Rule>();
  const edited = search.new === undefined ? changed : 'new';
  const mayChange = hasRole(role, 'admin');
  const query = useSpaceQuery('alerts.list', {}, polled(stateMs));
  return (
    <Page
      title="Alerts"
      subtitle={name}
      actions={
        mayChange && (
          <Button icon={BellPlus} look="primary" onClick={() => set({ new: '1' })} text="New alert" />
        )
      }
    >
      <div className="flex flex-col gap-4">
        <QueryCard isFlush query={query}>
          {(data) => <RuleTable rules={data} onEdit={setChanged} />}
        </QueryCard>
        {mayChange && <TargetCard />}
        <HistoryCard />
      </div>
      {mayChange && (
        <RuleDialog
          edited={edited}
          filter={filterOf(search)}
          onClose={() => {
            setChanged(undefined);
            if (search.new !== undefined)
              set(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])));
          }}
        />
      )}
    </Page>
  );
}

type Row = Output<'alerts.history'>[number];

const changes: Record<Row['change'], { tone: Tone; label: string }> = {
  fired: { tone: 'bad', label: 'Fired' },
  resolved: { tone: 'good', label: 'Resolved' },
  test: { tone: 'neutral', label: 'Test' },
};

function HistoryCard() {
  const query = useSpaceQuery('alerts.history', {}, polled(stateMs));
  return (
    <QueryCard title="History" isFlush query={query}>
      {(data) => (
        <Table
          empty="No alert has fired yet."
          caption="History of alerts"
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Time', cell: ({ at }) => <Time at={at} format={formatMinute} /> },
            {
              title: 'Change',
              cell: ({ change, text }) => (
                <>
                  <Badge tone={changes[change].tone}>{changes[change].label}</Badge>
                  <ShownText
                    text={withoutChange(text)}
                    className="mt-1 block text-xs [overflow-wrap:anywhere] md:hidden"
                  />
                </>
              ),
            },
            {
              title: 'Details',
              isExtra: true,
              className: 'max-w-96 [overflow-wrap:anywhere]',
              cell: ({ text }) => <ShownText text={withoutChange(text)} />,
            },
            { title: 'Sent', cell: ({ deliveries }) => <Outcome deliveries={deliveries} /> },
          ]}
        />
      )}
    </QueryCard>
  );
}

/** The text without `Firing: `, which the badge says. */
function withoutChange(text: string): string {
  return text.replace(/^\w+: /, '');
}

function Outcome({ deliveries }: Pick<Row, 'deliveries'>) {
  if (deliveries.length === 0) return <span className="text-faint">not sent</span>;
  const delivered = deliveries.filter(({ state }) => state === 'delivered').length;
  const failures = [...new Set(deliveries.flatMap(({ failure }) => failure ?? []))];
  const isWaiting = deliveries.some(({ state }) => state === 'waiting');
  return (
    <span className="block max-w-64 text-sm [overflow-wrap:anywhere]">
      {delivered} of {deliveries.length}
      {isWaiting && failures.length === 0 && ', sending'}
      {failures.length > 0 && (
        <span className="block text-bad text-xs">
          {failures.join(' ')}
          {isWaiting && ' Retrying.'}
        </span>
      )}
    </span>
  );
}
