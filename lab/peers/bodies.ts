import { randomBytes } from 'node:crypto';
import type { IngestEvent, LlmPayload, ToolPayload } from '../../event/event.ts';
import { type SpanInit, toProtobuf, type Values } from '../../harness/fixtures/spans.ts';
import type { Body } from './peer.ts';

/** Largest batch of OpenTelemetry's exporters, by default. */
const spansPerRequest = 512;
const requests = 4;

/**
 * Prepares requests of OTLP from events, as OpenInference's instrumentations and OpenTelemetry's exporters
 * send them: a trace has the span of an agent, and below it a span for each event.
 *
 * @returns a function that returns the requests in turn, each time with new trace and span ids.
 */
export function prepareSpanBodies(events: readonly Buffer[]): () => Body {
  const parsed = events.map((event): IngestEvent => JSON.parse(event.toString()));
  const bodies = Array.from({ length: requests }, (_, i) => {
    const from = Math.floor((i * parsed.length) / requests);
    return prepareBody(toSpans([...parsed.slice(from), ...parsed]).slice(0, spansPerRequest));
  });
  let next = 0;
  return () => (bodies[next++ % bodies.length] ?? noBody)();
}

const noBody = (): never => {
  throw new Error('there are no events to send');
};

function toSpans(events: readonly IngestEvent[]): SpanInit[] {
  const spans: SpanInit[] = [];
  let trace: { of: string | undefined; traceId: string; rootId: string } | undefined;
  for (const event of events) {
    if (trace === undefined || trace.of !== event.traceId) {
      trace = { of: event.traceId, traceId: randomId(16), rootId: randomId(8) };
      spans.push({ traceId: trace.traceId, spanId: trace.rootId, ...times(event), ...toAgent(event) });
    }
    spans.push({
      traceId: trace.traceId,
      spanId: randomId(8),
      parentSpanId: trace.rootId,
      ...times(event),
      ...toCall(event),
    });
  }
  return spans;
}

const times = ({ startTimeMs, endTimeMs }: IngestEvent) => ({
  startNs: BigInt(Math.round(startTimeMs)) * 1_000_000n,
  endNs: BigInt(Math.round(endTimeMs)) * 1_000_000n,
});

function toAgent({ context }: IngestEvent): SpanInit {
  const name = context?.agentId ?? 'agent';
  return {
    name,
    kind: 1,
    attributes: { 'openinference.span.kind': 'AGENT', 'agent.name': name, ...whose(context) },
  };
}

const whose = (context: IngestEvent['context']): Values => ({
  ...(context?.threadId !== undefined && { 'session.id': context.threadId }),
  ...(context?.userId !== undefined && { 'user.id': context.userId }),
});

function toCall(event: IngestEvent): SpanInit {
  const name = event.instrumentation.sourceFunction ?? event.instrumentation.source;
  const metadata = JSON.stringify(event.additionalProperties);
  const attributes = { ...whose(event.context), metadata };
  const payload =
    event.type === 'llm' ? llmAttributes(event.properties.llm) : toolAttributes(event.properties.tool);
  const code = event.status.state === 'ok' ? 1 : 2;
  return { name, kind: 1, attributes: { ...payload, ...attributes }, status: { code } };
}

/**
 * The names of OpenInference's semantic conventions. Instrumentations send the messages and, as JSON, the
 * whole request and response.
 */
function llmAttributes({ model, input, output, usage }: LlmPayload): Values {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
  return {
    'openinference.span.kind': 'LLM',
    'llm.system': 'openai',
    'llm.model_name': model ?? '',
    'llm.input_messages.0.message.role': 'system',
    'llm.input_messages.0.message.content': text(input?.system),
    'llm.input_messages.1.message.role': 'user',
    'llm.input_messages.1.message.content': text(input?.prompt),
    ...Object.fromEntries(
      (input?.tools ?? []).map((tool, i) => [`llm.tools.${i}.tool.json_schema`, JSON.stringify(tool)]),
    ),
    'llm.output_messages.0.message.role': 'assistant',
    'llm.output_messages.0.message.content': text(output?.response),
    ...Object.assign({}, ...(output?.toolCalls ?? []).map(toolCallAttributes)),
    'llm.token_count.prompt': usage?.inputTokens ?? 0,
    'llm.token_count.completion': usage?.outputTokens ?? 0,
    'llm.token_count.total': usage?.totalTokens ?? 0,
    'llm.token_count.prompt_details.cache_read': usage?.inputTokenDetails?.cacheReadTokens ?? 0,
    'input.value': JSON.stringify(input),
    'input.mime_type': 'application/json',
    'output.value': JSON.stringify(output),
    'output.mime_type': 'application/json',
  };
}

function toolCallAttributes(call: unknown, i: number): Values {
  const { id = '', function: called } = call as {
    id?: string;
    function?: { name?: string; arguments?: string };
  };
  const prefix = `llm.output_messages.0.message.tool_calls.${i}.tool_call`;
  return {
    [`${prefix}.id`]: id,
    [`${prefix}.function.name`]: called?.name ?? '',
    [`${prefix}.function.arguments`]: called?.arguments ?? '',
  };
}

function toolAttributes({ name, input, output }: ToolPayload): Values {
  return {
    'openinference.span.kind': 'TOOL',
    'tool.name': String(name),
    'input.value': JSON.stringify(input ?? {}),
    'input.mime_type': 'application/json',
    'output.value': String(output),
    'output.mime_type': 'text/plain',
  };
}

const randomId = (bytes: number) => randomBytes(bytes).toString('hex');

/**
 * Encodes spans.
 * @returns a function that returns a copy in which every id is new, and the same ids are still the same.
 */
function prepareBody(spans: readonly SpanInit[]): () => Body {
  const encoded = toProtobuf({
    resource: { 'service.name': 'my-agent', 'openinference.project.name': 'peers' },
    scope: { name: 'openinference.instrumentation.openai', version: '1.0.0' },
    spans,
  });
  const ids = new Set(spans.flatMap(({ traceId = '', spanId = '' }) => [traceId, spanId]));
  const places = [...ids].map((id) => ({
    bytes: id.length / 2,
    starts: findAll(encoded, Buffer.from(id, 'hex')),
  }));
  return () => {
    const bytes = Buffer.from(encoded);
    for (const place of places) {
      const id = randomBytes(place.bytes);
      for (const start of place.starts) bytes.set(id, start);
    }
    return { bytes, items: spans.length };
  };
}

function findAll(text: Buffer, part: Buffer): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) starts.push(at);
  return starts;
}
