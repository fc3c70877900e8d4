import { ShieldCheck } from 'lucide-react';
import { describeFailure } from '../api/failure.ts';
import type { Output } from '../api/query.ts';
import { formatCount } from '../format/number.ts';
import { usePages, useSpaceMutation } from '../space/use-space-query.ts';
import { PagedTable } from '../table/paged-table.tsx';
import { actionsColumn, type Column, Time } from '../table/table.tsx';
import { ShownText } from '../text/shown-text.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useToast } from '../ui/toasts.tsx';

type Entry = Output<'quarantine.list'>['entries'][number];

/** Events that one call of the API replays at most. */
const replayedAtOnceMax = 100;

/** Events that were accepted and that Postgres rejected. They are kept whole and can be stored again. */
export function QuarantinePage() {
  const toast = useToast();
  const pages = usePages('quarantine.list', {});
  const { mutateAsync, isPending } = useSpaceMutation('quarantine.replay', { reload: ['quarantine.list'] });
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? [];
  const replay = async (ids: string[]) => {
    try {
      const { replayed, failed } = await mutateAsync({ ids: ids.slice(0, replayedAtOnceMax) });
      toast(`${replayed.length} stored${failed.length > 0 ? `, ${failed.length} rejected again` : ''}.`);
    } catch (error) {
      toast(describeFailure(error).message);
    }
  };
  return (
    <Page
      title="Quarantine"
      subtitle="Accepted events that the database rejected. They are kept whole: fix the cause, then replay them."
      actions={
        entries.length > 1 && (
          <Button
            disabled={isPending}
            onClick={() => void replay(entries.map(({ id }) => id))}
            text={`Replay all ${formatCount(Math.min(entries.length, replayedAtOnceMax))} shown`}
          />
        )
      }
    >
      <PagedTable
        pages={pages}
        caption="Events in quarantine"
        rows={entries}
        keyOf={({ id }) => id}
        columns={quarantineColumns(isPending, (id) => void replay([id]))}
        empty={
          <Notice icon={ShieldCheck} title="Nothing is in quarantine" isSmall>
            Every accepted event was stored.
          </Notice>
        }
      />
    </Page>
  );
}

function quarantineColumns(isReplaying: boolean, onReplay: (id: string) => void): Column<Entry>[] {
  return [
    { title: 'Since', cell: ({ quarantinedAt }) => <Time at={quarantinedAt} /> },
    {
      title: 'Event',
      cell: ({ id }) => <code className="whitespace-nowrap font-mono text-xs">{id}</code>,
    },
    {
      title: 'Database error',
      className: 'min-w-72',
      cell: ({ sqlstate, message }) => (
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone="bad">{sqlstate}</Badge>
          <ShownText text={message} className="text-muted" />
        </span>
      ),
    },
    actionsColumn(({ id }) => (
      <Button
        size="small"
        disabled={isReplaying}
        aria-label={`Replay ${id}`}
        onClick={() => onReplay(id)}
        text="Replay"
      />
    )),
  ];
}
