import { randomBytes } from 'node:crypto';
import { toProtobufLogs } from '../../harness/fixtures/logs.ts';
import { toOtlpJson, toProtobuf } from '../../harness/fixtures/spans.ts';
import { payloads } from './payloads.ts';
import { type AbusiveRequest, type Protocol, protocols } from './protocols.ts';
import { plain } from './requests.ts';

/** A way into ingest, with the largest request that it takes and a small one. */
export interface Door {
  readonly name: string;
  readonly httpVersion: Protocol['httpVersion'];
  large(apiKey: string): AbusiveRequest;
  small(apiKey: string): AbusiveRequest;
}

function eventDoor(protocol: Protocol): Door {
  const payload = (name: string) => {
    const made = payloads[protocol.form][name];
    if (made === undefined) throw new Error(`there is no payload ${name}`);
    return made;
  };
  // It is read on the worker thread.
  const [large, small] = [payload('empty lists'), payload('one small event')];
  return {
    name: protocol.name,
    httpVersion: protocol.httpVersion,
    large: (apiKey) => plain(protocol, apiKey, large()),
    small: (apiKey) => plain(protocol, apiKey, small()),
  };
}

/** Spans of some 4 MiB. Each is an event with attributes. */
const spansMax = 4_000;
const recordsMax = 6_000;

const attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'gpt-4o',
  'gen_ai.usage.input_tokens': 100,
  'gen_ai.input.messages': JSON.stringify([
    { role: 'user', parts: [{ type: 'text', content: 'x'.repeat(300) }] },
  ]),
};
const id = (bytes: number) => randomBytes(bytes).toString('hex');
const spans = (count: number) => {
  const traceId = id(16);
  return { spans: Array.from({ length: count }, () => ({ traceId, spanId: id(8), attributes })) };
};
const records = (count: number) =>
  Array.from({ length: count }, () => ({
    ...{ traceId: id(16), spanId: '', eventName: 'claude_code.api_request' },
    attributes: {
      model: 'claude',
      input_tokens: '10',
      output_tokens: '5',
      request_id: id(12),
      prompt: 'x'.repeat(300),
    },
  }));

function exportDoors(): Door[] {
  const rpcPath = (signal: string, service: string) =>
    `/opentelemetry.proto.collector.${signal}.v1.${service}/Export`;
  const http = { isEnveloped: false, httpVersion: '1.1' } as const;
  const grpc = { isEnveloped: true, httpVersion: '2', contentType: 'application/grpc' } as const;
  const protobuf = 'application/x-protobuf';
  const ofSpans = (count: number) => toProtobuf(spans(count));
  const ofRecords = (count: number) => toProtobufLogs(records(count));
  const doors = [
    { ...http, name: 'OTLP/HTTP', path: '/v1/traces', contentType: protobuf, make: ofSpans, max: spansMax },
    {
      ...http,
      ...{ name: 'OTLP/HTTP in JSON', path: '/v1/traces', contentType: 'application/json', max: spansMax },
      make: (count: number) => toOtlpJson(spans(count)),
    },
    { ...grpc, name: 'OTLP/gRPC', path: rpcPath('trace', 'TraceService'), make: ofSpans, max: spansMax },
    {
      ...http,
      name: 'logs over OTLP/HTTP',
      path: '/v1/logs',
      contentType: protobuf,
      make: ofRecords,
      max: recordsMax,
    },
    {
      ...grpc,
      name: 'logs over OTLP/gRPC',
      path: rpcPath('logs', 'LogsService'),
      make: ofRecords,
      max: recordsMax,
    },
  ];
  return doors.map(({ name, httpVersion, path, contentType, isEnveloped, make, max }) => {
    // Made once: that takes longer than ingest takes for it.
    let large: Buffer | undefined;
    const request = (apiKey: string, bytes: Buffer) =>
      plain({ path, contentType, isEnveloped }, apiKey, bytes);
    return {
      ...{ name, httpVersion },
      large: (apiKey) => {
        large ??= make(max);
        return request(apiKey, large);
      },
      small: (apiKey) => request(apiKey, make(1)),
    };
  });
}

/** Every door: the protocols of events, and those of spans and log records. */
export const doors: readonly Door[] = [...protocols.map(eventDoor), ...exportDoors()];
