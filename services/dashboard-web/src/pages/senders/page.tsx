import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Antenna, SearchX } from 'lucide-react';
import type { Output } from '../../api/paths.ts';
import { apiQuery } from '../../api/query.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCount, formatCounted } from '../../format/number.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { inputClasses } from '../../ui/field.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { ingestUrl } from '../overview/ingest-url.ts';
import { matchSenders } from './sender.ts';
import { senderColumns } from './sender-columns.tsx';

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

/** Says which traces have too many spans, and what is missing in their events. */
function LargeTraces({ traces }: { traces: Output<'senders.largeTraces'> }) {
  const { id: spaceId } = useSpace();
  return (
    <div role="note" className="mb-3 rounded-md bg-warn-soft px-4 py-3 text-sm text-warn">
      <p className="font-medium">{formatCounted(traces.length, 'trace')} with more than 10,000 spans</p>
      <p className="mt-1">
        Weir does not relate spans of such traces that come in different requests: agents, threads and users
        of spans above are missing, and a call that two spans describe may be two events. Start one trace for
        each task or conversation.
      </p>
      <ul className="mt-1 space-y-0.5">
        {traces.map(({ traceId, spans }) => (
          <li key={traceId} className="[overflow-wrap:anywhere]">
            <Link to="/s/$spaceId/traces/$traceId" params={{ spaceId, traceId }} className="underline">
              {traceId}
            </Link>
            , {formatCount(spans)} spans
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A space that received no spans: the variables that every exporter of OpenTelemetry reads (docs/opentelemetry.md). */
function SetUp() {
  const variables = [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${ingestUrl()}`,
    'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20YOUR_API_KEY"',
    'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    'export OTEL_SERVICE_NAME=my-agent',
    'export OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none',
  ].join('\n');
  return (
    <Card>
      <Notice icon={Antenna} title="No spans yet" isSmall>
        A program with OpenTelemetry, OpenInference, OpenLLMetry or Langfuse sends its spans here when these
        variables are set. Its service and its libraries then appear on this page.
      </Notice>
      <div className="flex items-center justify-between pb-1.5">
        <h2 className="font-medium text-sm">Variables of the program</h2>
        <CopyButton label="Copy: Variables of the program" text={variables}>
          Copy
        </CopyButton>
      </div>
      <pre
        tabIndex={0}
        className="overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-[0.75rem] leading-5 max-md:whitespace-pre-wrap max-md:wrap-anywhere"
      >
        {variables}
      </pre>
    </Card>
  );
}
