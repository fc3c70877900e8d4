import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import { polled } from '../../api/failure.ts';
import { apiQuery, type Output } from '../../api/query.ts';
import { useMe } from '../../space/space.tsx';
import { type Column, Table } from '../../table/table.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Logo } from '../../ui/logo.tsx';
import { Page, QueryCard } from '../../ui/page.tsx';
import { DelayCard } from './delay-card.tsx';
import { QueueCard, ServicesCard } from './queue-card.tsx';
import { QuarantineCard, RetentionCard } from './retention-card.tsx';
import { StorageCard } from './storage-card.tsx';

/** Cards for operators, each loaded by itself: what does not answer says so, the others stay. */
export function InstallationPage() {
  const { spaces } = useMe();
  return (
    <div className="h-full overflow-y-auto">
      <header className="flex h-12 items-center gap-3 border-line border-b bg-sunken px-4">
        <Logo />
        {spaces.length > 0 && (
          <Link
            to="/"
            className="ml-auto flex items-center gap-1.5 text-muted text-sm hover:text-ink [&_svg]:size-4"
          >
            <ArrowLeft aria-hidden />
            Spaces
          </Link>
        )}
      </header>
      <Page
        title="Installation"
        subtitle="The state of this installation, for its operators. All figures are totals over all spaces."
      >
        <div className="flex flex-col gap-4">
          <QueueCard />
          <DelayCard />
          <DoctorCard />
          <ServicesCard />
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <RetentionCard />
            <QuarantineCard />
          </div>
          <StorageCard />
        </div>
      </Page>
    </div>
  );
}

type Finding = Output<'operator.doctor'>[number];

/** The checks cost more than the other figures, so they run less often. */
const doctorReloadMs = 30_000;

const tones: Record<Finding['status'], Tone> = {
  failed: 'bad',
  warning: 'warn',
  skipped: 'neutral',
  ok: 'good',
};
const order = Object.keys(tones);

/** Failures and warnings first. */
function DoctorCard() {
  const [isAll, setAll] = useState(false);
  const query = useQuery({
    ...apiQuery('operator.doctor', undefined),
    ...polled<unknown>(doctorReloadMs),
    retry: false,
  });
  const open = query.data?.filter(({ status }) => status === 'failed' || status === 'warning') ?? [];
  return (
    <QueryCard
      title="weir doctor"
      query={query}
      isFlush
      actions={
        query.data !== undefined && (
          <Button
            size="small"
            aria-pressed={isAll}
            onClick={() => setAll(!isAll)}
            text={`All ${query.data.length} checks`}
          />
        )
      }
    >
      {(findings) => {
        const shown = isAll
          ? findings.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
          : open;
        return shown.length === 0 ? (
          <p className="p-4 text-muted text-sm">No check failed.</p>
        ) : (
          <Table
            caption="What weir doctor found"
            rows={shown}
            keyOf={({ check, found }) => `${check} ${found}`}
            columns={findingColumns}
          />
        );
      }}
    </QueryCard>
  );
}

const findingColumns: readonly Column<Finding>[] = [
  { title: 'Check', cell: ({ check }) => <code className="font-mono text-xs">{check}</code> },
  { title: 'Status', cell: ({ status }) => <Badge tone={tones[status]}>{status}</Badge> },
  {
    title: 'Found',
    className: 'break-words min-w-0',
    cell: ({ found }) => <InlineCode text={found} />,
  },
  {
    title: 'What to do',
    className: 'min-w-0',
    cell: ({ action }) => <InlineCode text={action ?? '–'} />,
  },
];

/** `commands` between backticks, as in Markdown, are shown as code. */
function InlineCode({ text }: { text: string }) {
  return text.split('`').map((part, place) =>
    place % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move.
      <code key={place} className="break-words font-mono text-xs">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
