import { Antenna } from 'lucide-react';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Card } from '../../ui/page.tsx';
import { Notice } from '../../ui/states.tsx';
import { ingestUrl } from '../overview/ingest-url.ts';

/** A space that received no spans: the variables that every exporter of OpenTelemetry reads (docs/opentelemetry.md). */
export function SetUp() {
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
