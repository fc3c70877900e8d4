import { useQuery } from '@tanstack/react-query';
import { describeFailure } from '../../api/failure.ts';
import type { Output } from '../../api/paths.ts';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { formatAgo, formatTime, type Zone } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { nameBrowser } from './browser-name.ts';

/** The sessions of the user. */
export function SessionsCard() {
  const toast = useToast();
  const { data, error, refetch } = useQuery(apiQuery('sessions.list', undefined));
  const revoke = useApiMutation('sessions.revoke', { reload: ['sessions.list'] });
  const revokeOthers = useApiMutation('sessions.revokeOthers', { reload: ['sessions.list'] });
  const attempt = async (change: () => Promise<unknown>) => {
    try {
      await change();
    } catch (failure) {
      toast(describeFailure(failure).message);
    }
  };
  return (
    <Card
      title="Sessions"
      isFlush
      className="lg:col-span-2"
      actions={
        (data?.length ?? 0) > 1 && (
          <Button look="danger" size="small" onClick={() => void attempt(() => revokeOthers.mutateAsync())}>
            End all others
          </Button>
        )
      }
    >
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
      ) : data === undefined ? (
        <Loading rows={3} />
      ) : (
        <SessionTable sessions={data} onEnd={(id) => void attempt(() => revoke.mutateAsync({ id }))} />
      )}
    </Card>
  );
}

type Session = Output<'sessions.list'>[number];

/** Sessions with their browser, address and last use. */
function SessionTable({ sessions, onEnd }: { sessions: readonly Session[]; onEnd: (id: string) => void }) {
  const { zone } = useSettings();
  return (
    <Table
      caption="Sessions"
      rows={sessions}
      keyOf={({ id }) => id}
      columns={[...sessionColumns(zone), endColumn(onEnd)]}
    />
  );
}

function sessionColumns(zone: Zone): Column<Session>[] {
  return [
    {
      title: 'Browser',
      cell: ({ userAgent, isCurrent }) => (
        <span className="flex max-w-80 items-center gap-2">
          <span className="truncate" title={userAgent ?? ''}>
            <ShownText text={nameBrowser(userAgent)} />
          </span>
          {isCurrent && <Badge tone="accent">this one</Badge>}
        </span>
      ),
    },
    { title: 'IP address', cell: ({ address }) => <span className="text-muted">{address ?? '–'}</span> },
    {
      title: 'Signed in',
      cell: ({ createdAt }) => (
        <span className="whitespace-nowrap text-muted">
          {formatTime(Date.parse(createdAt), zone).slice(0, 16)}
        </span>
      ),
    },
    {
      title: 'Last used',
      cell: ({ lastUsedAt }) => (
        <span className="whitespace-nowrap text-muted">{formatAgo(Date.parse(lastUsedAt), Date.now())}</span>
      ),
    },
  ];
}

function endColumn(onEnd: (id: string) => void): Column<Session> {
  return {
    title: 'Actions',
    isPinned: true,
    isNumber: true,
    cell: ({ id, isCurrent }) =>
      !isCurrent && (
        <Button size="small" aria-label="End this session" onClick={() => onEnd(id)}>
          End
        </Button>
      ),
  };
}
