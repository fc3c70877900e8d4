import { useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import { apiQuery } from '../../api/query.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { inputClasses } from '../../ui/field.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { LargeTraces } from './large-traces.tsx';
import { matchSenders } from './sender.ts';
import { senderColumns } from './sender-columns.tsx';
import { SetUp } from './set-up.tsx';

/** New counts are written every few seconds. */
const reloadMs = 10_000;

/** The programs and libraries that send OpenTelemetry spans, and what becomes of the spans. */
export function SendersPage() {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { search, set } = useFilter();
  const { data, error, refetch } = useQuery({
    ...apiQuery('senders.list', { spaceId }),
    refetchInterval: reloadMs,
  });
  const large = useQuery({ ...apiQuery('senders.largeTraces', { spaceId }), refetchInterval: reloadMs });
  const isRefusedOnly = search.refused !== undefined;
  const shown = matchSenders(data ?? [], { text: search.q, isRefusedOnly });
  return (
    <Page
      title="Senders"
      subtitle="OpenTelemetry spans by program and library, counted since each was first seen. Events sent as JSON, over RPC or by Weir's SDK are not counted here."
    >
      {large.data !== undefined && large.data.length > 0 && <LargeTraces traces={large.data} />}
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : data.length === 0 ? (
        <SetUp />
      ) : (
        <>
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <input
              type="search"
              aria-label="Filter by service, library or SDK"
              placeholder="Service, library or SDK"
              className={`${inputClasses} max-w-72`}
              value={search.q ?? ''}
              onChange={({ target }) => set({ q: target.value || undefined })}
            />
            <Button
              size="small"
              aria-pressed={isRefusedOnly}
              onClick={() => set({ refused: isRefusedOnly ? undefined : 'yes' })}
            >
              With refused spans
            </Button>
          </div>
          <Card isFlush>
            {shown.length === 0 ? (
              <Notice icon={SearchX} title="No sender matches" isSmall>
                <Button onClick={() => set({ q: undefined, refused: undefined })}>Show all senders</Button>
              </Notice>
            ) : (
              <Table
                caption="Senders"
                rows={shown}
                keyOf={({ service, scope, version }) => JSON.stringify([service, scope, version])}
                columns={senderColumns(zone)}
              />
            )}
          </Card>
          <p className="mt-3 text-muted text-sm">
            Left out: spans that are neither a model call nor a tool call, such as HTTP requests, and sums
            over several calls. Merged: further spans of a call that is stored once. Requests that Weir
            rejects as a whole (wrong key, monthly limit reached) appear only in the log of the program.
          </p>
        </>
      )}
    </Page>
  );
}
