import { useQuery } from '@tanstack/react-query';
import { apiQuery, type Output } from '../../api/query.ts';
import { formatBytes, formatCount, formatDuration, formatShare } from '../../format/number.ts';
import { type Column, Table } from '../../table/table.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { QueryCard } from '../../ui/page.tsx';
import { followed } from './followed.ts';

type Stream = Output<'operator.queue'>['streams'][number];

/** As in deploy/prometheus/alerts.yml: an operator should look at what is beyond. */
const oldestSecondsMax = 60;
const bytesRatioMax = 0.7;

const nodeTones: Record<Stream['nodes'][number]['state'], Tone> = {
  leader: 'accent',
  current: 'good',
  behind: 'warn',
  offline: 'bad',
};

/** Events that were accepted and are not stored yet. */
export function QueueCard() {
  const query = useQuery({ ...apiQuery('operator.queue', undefined), ...followed });
  return (
    <QueryCard title="Queue" query={query} isFlush>
      {({ streams }) => (
        <Table
          empty="There is no stream yet. The first ingest or writer that starts creates it."
          caption="Streams of the queue"
          rows={streams}
          keyOf={({ stream }) => stream}
          columns={[
            { title: 'Stream', cell: ({ stream }) => <code className="font-mono text-xs">{stream}</code> },
            { title: 'Pending messages', isNumber: true, cell: ({ messages }) => formatCount(messages) },
            {
              title: 'Oldest pending',
              isNumber: true,
              cell: ({ messages, oldestSeconds }) => (
                <Marked isBad={oldestSeconds > oldestSecondsMax}>
                  {messages === 0 ? '–' : formatDuration(Math.round(oldestSeconds * 1_000))}
                </Marked>
              ),
            },
            {
              title: 'Filled',
              isNumber: true,
              cell: ({ bytesRatio, bytesMax }) => (
                <Marked isBad={bytesRatio > bytesRatioMax}>
                  {formatShare(bytesRatio)} of {formatBytes(bytesMax)}
                </Marked>
              ),
            },
            {
              title: 'Nodes',
              cell: ({ nodes }) => (
                <span className="flex flex-wrap gap-1">
                  {nodes.length === 0 && <span className="text-muted">one nats-server</span>}
                  {nodes.map(({ name, state }) => (
                    <Badge key={name} tone={nodeTones[state]}>
                      {name}: {state}
                    </Badge>
                  ))}
                </span>
              ),
            },
          ]}
        />
      )}
    </QueryCard>
  );
}

function Marked({ isBad, children }: { isBad: boolean; children: React.ReactNode }) {
  return <span className={isBad ? 'font-medium text-bad' : undefined}>{children}</span>;
}

export function ServicesCard() {
  const query = useQuery({ ...apiQuery('operator.queue', undefined), ...followed });
  return (
    <QueryCard title="Services" query={query} isFlush>
      {({ services, version, schema }) => (
        <>
          <Table
            caption="Running services"
            rows={services}
            keyOf={({ service, host, pid }) => `${service} ${host} ${pid}`}
            columns={serviceColumns(version, schema)}
          />
          <p className="px-4 py-2.5 text-faint text-xs">
            The services that answered through nats-server in the last few seconds. The busiest space is that
            with the most bytes of an ingest, events of a writer, or call time of a dashboard API in some two
            minutes. The dashboard API that serves this page has version {version} and schema {schema}. A
            service that is not listed is not running, or not connected to nats-server.
          </p>
        </>
      )}
    </QueryCard>
  );
}

type Queue = Output<'operator.queue'>;

/** @param version, schema of the dashboard API that serves the page: others are marked. */
function serviceColumns(version: string, schema: Queue['schema']): Column<Queue['services'][number]>[] {
  const marked = <Value extends string | number | undefined>(value: Value, own: Value) => (
    <span className={value === own ? undefined : 'font-medium text-warn'}>{value}</span>
  );
  return [
    { title: 'Service', cell: ({ service }) => service },
    { title: 'Version', cell: (one) => marked(one.version, version) },
    { title: 'Schema', cell: (one) => marked(one.schema, schema) },
    { title: 'Machine', cell: ({ host }) => <span className="break-all">{host}</span> },
    { title: 'Process', isNumber: true, cell: ({ pid }) => pid },
    {
      title: 'Busiest space',
      isExtra: true,
      cell: ({ busiest }) =>
        busiest === undefined ? '' : `${Math.round(100 * busiest.share)} % ${busiest.spaceId}`,
    },
    {
      title: 'Service port',
      isExtra: true,
      cell: ({ metricsUrl }) => <code className="font-mono text-xs">{metricsUrl}</code>,
    },
  ];
}
