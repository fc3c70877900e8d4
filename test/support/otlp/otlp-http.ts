import { fromBinary, type JsonValue, toJson } from '@bufbuild/protobuf';
import { StatusSchema } from '../../../gen/google/rpc/status_pb.ts';
import { ExportTraceServiceResponseSchema } from '../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import type { Pipeline, Tenant } from '../pipeline.ts';

/** The two encodings of OTLP/HTTP, by their Content-Type. */
export const otlpTypes = ['application/x-protobuf', 'application/json'] as const;
export type OtlpType = (typeof otlpTypes)[number];

/** A response to `POST /v1/traces`. Its body is an OTLP message, as JSON whatever its encoding was. */
export interface ExportAnswer {
  status: number;
  headers: Headers;
  body: JsonValue;
}

/** Posts a body unchanged to `/v1/traces`. */
export async function postTraces(
  { url }: Pick<Pipeline, 'url'>,
  { apiKey }: Pick<Tenant, 'apiKey'>,
  { type, body, headers = {} }: { type: OtlpType; body: Uint8Array; headers?: Record<string, string> },
): Promise<ExportAnswer> {
  const response = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': type, ...headers },
    body: Buffer.from(body),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body: decode(response, bytes) };
}

function decode({ ok, headers }: Response, bytes: Uint8Array): JsonValue {
  if (headers.get('content-type') === 'application/json') return JSON.parse(Buffer.from(bytes).toString());
  return ok
    ? toJson(ExportTraceServiceResponseSchema, fromBinary(ExportTraceServiceResponseSchema, bytes))
    : toJson(StatusSchema, fromBinary(StatusSchema, bytes));
}
