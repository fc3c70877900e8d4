import { useQuery } from '@tanstack/react-query';
import type { Output } from '../../api/paths.ts';
import { apiQuery } from '../../api/query.ts';
import { formatMinute } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

type Row = Output<'alerts.history'>[number];

const changes: Record<Row['change'], { tone: Tone; label: string }> = {
  fired: { tone: 'bad', label: 'Fired' },
  resolved: { tone: 'good', label: 'Resolved' },
  test: { tone: 'neutral', label: 'Test' },
};

/** The last changes of alerts, and the outcome of their messages. */
export function HistoryCard({ refetchMs }: { refetchMs: number }) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { data, error } = useQuery({
    ...apiQuery('alerts.history', { spaceId }),
    refetchInterval: refetchMs,
  });
  return (
    <Card title="History" isFlush>
      {error !== null ? (
        <FailureNotice error={error} isSmall />
      ) : data === undefined ? (
        <Loading rows={3} />
      ) : data.length === 0 ? (
        <p className="px-4 py-3 text-muted text-sm">No alert has fired yet.</p>
      ) : (
        <Table
          caption="History of alerts"
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Time',
              className: 'whitespace-nowrap text-muted',
              cell: ({ at }) => formatMinute(Date.parse(at), zone),
            },
            {
              title: 'Change',
              cell: ({ change, text }) => (
                <>
                  <Badge tone={changes[change].tone}>{changes[change].label}</Badge>
                  <span className="mt-1 block text-xs [overflow-wrap:anywhere] md:hidden">
                    <ShownText text={withoutChange(text)} />
                  </span>
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
    </Card>
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
