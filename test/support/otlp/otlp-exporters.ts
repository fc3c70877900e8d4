import { Metadata } from '@grpc/grpc-js';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as HttpJsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as HttpProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

interface Target {
  url: string;
  apiKey: string;
}

type HttpConfig = ConstructorParameters<typeof HttpProtobufExporter>[0];
type Compression = NonNullable<NonNullable<HttpConfig>['compression']>;

// The enum is in a transitive dependency, which we may not import.
const [none, gzip] = ['none', 'gzip'] as Compression[];

const overHttp = ({ url, apiKey }: Target, compression = none) => ({
  url: `${url}/v1/traces`,
  headers: { Authorization: `Bearer ${apiKey}` },
  ...(compression !== undefined && { compression }),
});

const overGrpc = ({ url, apiKey }: Target, compression = none) => {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${apiKey}`);
  return { url, metadata, ...(compression !== undefined && { compression }) };
};

/** OpenTelemetry's exporters for Node, in every protocol and compression that they support. */
export const exporters: Record<string, (target: Target) => SpanExporter> = {
  'http/protobuf': (target) => new HttpProtobufExporter(overHttp(target)),
  'http/protobuf, gzip': (target) => new HttpProtobufExporter(overHttp(target, gzip)),
  'http/json': (target) => new HttpJsonExporter(overHttp(target)),
  'http/json, gzip': (target) => new HttpJsonExporter(overHttp(target, gzip)),
  grpc: (target) => new GrpcExporter(overGrpc(target)),
  'grpc, gzip': (target) => new GrpcExporter(overGrpc(target, gzip)),
};

/** Exports spans and waits for the outcome. @returns the error after which the exporter gave up. */
export function exportOnce(
  exporter: SpanExporter,
  spans: readonly ReadableSpan[],
): Promise<Error | undefined> {
  return new Promise((resolve) => {
    exporter.export([...spans], ({ error, code }) =>
      resolve(error ?? (code === 0 ? undefined : new Error('the export failed'))),
    );
  });
}
