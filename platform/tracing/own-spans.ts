import type * as Api from '@opentelemetry/api';
import type { Attributes, Context, Link, SpanOptions, Tracer } from '@opentelemetry/api';
import type { Config } from '../config.ts';
import { version } from '../version.ts';
import { formatTraceparent, type Traceparent } from './traceparent.ts';

/** A span of Weir. It has ids, counts and outcomes, and nothing of events. */
export interface OwnSpan {
  /** Names it to a service that continues its trace. */
  readonly traceparent: string;
  startChild(name: string, linked: readonly OwnSpan[]): OwnSpan;
  end(attributes: Attributes, hasFailed?: boolean): void;
}

/** Disposing sends the spans that wait. */
export interface OwnSpans extends AsyncDisposable {
  /** Starts a span in the trace of another program or service. */
  start(name: string, parent: Traceparent, kind: 'server' | 'consumer'): OwnSpan;
}

interface OpenSpan extends OwnSpan {
  readonly link: Link;
}

/**
 * Sends spans over OTLP (HTTP and protobuf) to where OpenTelemetry's standard variables say, only in traces
 * that a client began and samples (ADR 34): exporters send no `traceparent`, so Weir can send its spans to
 * itself.
 * @returns undefined without an endpoint. The libraries are loaded only with one.
 */
export async function openOwnSpans(
  service: string,
  config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'>,
): Promise<OwnSpans | undefined> {
  if ((config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_ENDPOINT) === undefined)
    return undefined;
  const [api, sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({
      'service.name': `weir-${service}`,
      'service.version': version,
    }),
    // Without options the library reads the standard variables: addresses, headers, time-out, certificates.
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const open = openSpans(api, provider.getTracer('weir', version));
  return {
    start(name, { traceId, spanId }, kind) {
      const remote = { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
      const parent = api.trace.setSpanContext(api.ROOT_CONTEXT, remote);
      const spanKind = kind === 'server' ? api.SpanKind.SERVER : api.SpanKind.CONSUMER;
      return open(name, parent, { kind: spanKind });
    },
    [Symbol.asyncDispose]: () => provider.shutdown(),
  };
}

/** The libraries are loaded late, so what they export is an argument. */
function openSpans({ ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }: typeof Api, tracer: Tracer) {
  return function open(name: string, parent: Context, options: SpanOptions): OpenSpan {
    const span = tracer.startSpan(name, options, parent);
    const own = span.spanContext();
    return {
      link: { context: own },
      traceparent: formatTraceparent(own),
      startChild(childName, linked) {
        const links = linked.flatMap((other) => (isOpenSpan(other) ? other.link : []));
        return open(childName, trace.setSpan(ROOT_CONTEXT, span), { kind: SpanKind.PRODUCER, links });
      },
      end(attributes, hasFailed = false) {
        span.setAttributes(attributes);
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  };
}

const isOpenSpan = (span: OwnSpan): span is OpenSpan => 'link' in span;
