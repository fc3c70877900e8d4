import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { Table } from '../../ui/table.tsx';
import { followed, StateCard } from './state-card.tsx';

/** The service processes that answer now, with their versions. */
export function ServicesCard() {
  const query = useQuery({ ...apiQuery('operator.queue', undefined), ...followed });
  return (
    <StateCard title="Services" query={query} isFlush>
      {({ services, version, schema }) => (
        <>
          <Table
            caption="Running services"
            rows={services}
            keyOf={({ service, host, pid }) => `${service} ${host} ${pid}`}
            columns={[
              { title: 'Service', cell: ({ service }) => service },
              {
                title: 'Version',
                cell: (one) => (
                  <span className={one.version === version ? undefined : 'font-medium text-warn'}>
                    {one.version}
                  </span>
                ),
              },
              {
                title: 'Schema',
                cell: (one) => (
                  <span className={one.schema === schema ? undefined : 'font-medium text-warn'}>
                    {one.schema}
                  </span>
                ),
              },
              { title: 'Machine', cell: ({ host }) => <span className="break-all">{host}</span> },
              { title: 'Process', isNumber: true, cell: ({ pid }) => pid },
              {
                title: 'Service port',
                isExtra: true,
                cell: ({ metricsUrl }) => <code className="font-mono text-xs">{metricsUrl}</code>,
              },
            ]}
          />
          <p className="px-4 py-2.5 text-faint text-xs">
            The services that answered through nats-server in the last few seconds. The dashboard API that
            serves this page has version {version} and schema {schema}. A service that is not listed is not
            running, or not connected to nats-server.
          </p>
        </>
      )}
    </StateCard>
  );
}
