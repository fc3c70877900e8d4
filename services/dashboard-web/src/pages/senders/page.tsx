import { Antenna, SearchX } from 'lucide-react';
import { polled } from '../../api/failure.ts';
import type { Output } from '../../api/query.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCount, formatCounted } from '../../format/number.ts';
import { formatAgo, formatTime } from '../../format/time.ts';
import { SpaceLink } from '../../space/space.tsx';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { type Column, Table } from '../../table/table.tsx';
import { hasMatch, wordsIgnoringCase } from '../../text/ignoring-case.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { inputClasses } from '../../ui/field.tsx';
import { Loaded, Notice } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { ingestUrl } from '../../url/page-values.ts';

/** New counts are written every few seconds. */
const reloadMs = 10_000;

/** Programs and libraries that send OpenTelemetry spans, and what becomes of these. */
export function SendersPage() {
  const query = useSpaceQuery('senders.list', {}, polled(reloadMs));
  const large = useSpaceQuery('senders.largeTraces', {}, polled(reloadMs));
  return (
    <Page
      title="Senders"
      subtitle="OpenTelemetry spans by program and library, counted since each was first seen. Events sent as JSON, over RPC or by Weir's SDK are not counted here."
    >
      {large.data !== undefined && large.data.length > 0 && <LargeTraces traces={large.data} />}
      <Loaded query={query}>
        {(data) => (data.length === 0 ? <SetUp /> : <SenderList senders={data} />)}
      </Loaded>
    </Page>
  );
}

function SenderList({ senders }: { senders: readonly Sender[] }) {
  const { search, set } = useFilter();
  const isRefusedOnly = search.refused !== undefined;
  return (
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
          text="With refused spans"
        />
      </div>
      <Card isFlush>
        <Table
          caption="Senders"
          rows={matchSenders(senders, { text: search.q, isRefusedOnly })}
          keyOf={({ service, scope, version }) => JSON.stringify([service, scope, version])}
          columns={senderColumns}
          empty={
            <Notice icon={SearchX} title="No sender matches" isSmall>
              <Button onClick={() => set({ q: undefined, refused: undefined })}>Show all senders</Button>
            </Notice>
          }
        />
      </Card>
      <p className="mt-3 text-muted text-sm">
        Left out: spans that are neither a model call nor a tool call, such as HTTP requests, and sums over
        several calls. Merged: further spans of a call that is stored once. Requests that Weir rejects as a
        whole (wrong key, monthly limit reached) appear only in the log of the program.
      </p>
    </>
  );
}

/** Traces with too many spans, and what is missing in their events. */
function LargeTraces({ traces }: { traces: Output<'senders.largeTraces'> }) {
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
            <SpaceLink page="trace" id={traceId} className="underline">
              {traceId}
            </SpaceLink>
            , {formatCount(spans)} spans
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Shows the variables of every OpenTelemetry exporter (docs/opentelemetry.md) to a space without spans. */
function SetUp() {
  const variables = [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${ingestUrl}`,
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
      <CodeSample title="Variables of the program" code={variables} />
    </Card>
  );
}

const senderColumns: readonly Column<Sender>[] = [
  { title: 'Sender', className: '[overflow-wrap:anywhere]', cell: (sender) => <Names sender={sender} /> },
  {
    title: 'Received',
    isNumber: true,
    isExtra: true,
    cell: (sender) => formatCount(countReceived(sender)),
  },
  { title: 'Stored', isNumber: true, cell: ({ stored }) => formatCount(stored) },
  { title: 'Merged', isNumber: true, isExtra: true, cell: ({ merged }) => formatCount(merged) },
  { title: 'Left out', isNumber: true, cell: ({ leftOut }) => formatCount(leftOut) },
  {
    title: 'Refused',
    isNumber: true,
    cell: ({ refused }) => (refused === 0 ? '0' : <Badge tone="bad">{formatCount(refused)}</Badge>),
  },
  {
    title: 'Last seen',
    isExtra: true,
    cell: ({ lastSeenAt }) => <LastSeen at={lastSeenAt} />,
  },
];

function LastSeen({ at }: { at: string }) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={formatTime(atMs)} className="whitespace-nowrap text-muted">
      {formatAgo(atMs, Date.now())}
    </time>
  );
}

/** The service above its library and SDK, and why its last refused span was refused. */
function Names({ sender: { service, scope, version, sdk, refusal } }: { sender: Sender }) {
  return (
    <div className="min-w-0">
      <span className="block font-medium">
        {service === '' ? <span className="text-muted">unnamed service</span> : <ShownText text={service} />}
      </span>
      <ShownText text={`${scope} ${version}`.trim()} className="block text-xs" />
      <ShownText text={sdk} className="block text-muted text-xs" />
      {refusal !== undefined && (
        <span className="block text-bad text-xs">
          Last refusal: <ShownText text={refusal} />
        </span>
      )}
    </div>
  );
}

export type Sender = Output<'senders.list'>[number];

export interface SenderFilter {
  /** Words that the service, the library or the SDK contain. */
  text?: string | undefined;
  isRefusedOnly: boolean;
}

export function matchSenders(
  senders: readonly Sender[],
  { text = '', isRefusedOnly }: SenderFilter,
): Sender[] {
  const words = wordsIgnoringCase(text);
  return senders.filter(({ service, scope, version, sdk, refused }) => {
    const names = `${service} ${scope} ${version} ${sdk}`;
    return words.every((word) => hasMatch(names, word)) && (!isRefusedOnly || refused > 0);
  });
}

export function countReceived({ stored, merged, leftOut, refused }: Sender): number {
  return stored + merged + leftOut + refused;
}
