import type { Json, JsonObject } from '../../../../event/json/json-value.ts';
import type { SpanContext } from '../../../../store/traces/span-tree.ts';
import { textOf } from '../spans/attributes.ts';
import type { Span, SpanEvent, SpanSource } from '../spans/span.ts';
import { type AttributeReader, unquoted } from './attribute-reader.ts';
import { takeDimensions } from './dimensions.ts';
import { checkIds, eventIdOf, traceUuidOf } from './ids.ts';
import { compact, unlessEmpty } from './json-object.ts';
import { mapLlmPayload } from './llm-payload.ts';
import { readEventMessages, readListedMessages } from './messages/event-messages.ts';
import { mapRest } from './otel-rest.ts';
import type { Role } from './role.ts';
import { commonRows } from './table.ts';
import { mapToolPayload } from './tool-payload.ts';

/** Data of an event that comes from other spans, or from the span's source. */
export interface EventContext {
  readonly vendor: string;
  readonly role: Extract<Role, { kind: 'llm' | 'tool' }>;
  readonly source: SpanSource;
  /** The result of `mapSource` for the span's source. */
  readonly sourceJson: JsonObject;
  /** The id of the span that the parent event is made from. */
  readonly parentSpanId: string | undefined;
  /** The agent, thread and user of the span: each is its own, or that of a span above. */
  readonly context: SpanContext;
  readonly reader: AttributeReader;
}

/**
 * Maps an LLM or tool span to an event, in the shape of the JSON API (docs/api.md §2).
 * @throws UnstorableError when ids are missing, or an attribute is nested too deep.
 */
export function toEvent(span: Span, context: EventContext): JsonObject {
  checkIds(span);
  const { role, source, reader } = context;
  const events = span.readEvents();
  const messages = readEventMessages(role.kind === 'llm' ? events : []);
  const listed = role.kind === 'llm' ? readListedMessages(reader.get('events')) : undefined;
  if (listed !== undefined) reader.take({ value: null, names: ['events'] });
  const payload =
    role.kind === 'llm'
      ? mapLlmPayload(reader, listed ?? messages, { span, events })
      : mapToolPayload(reader, span.name, events);
  const common = {
    status: mapStatus(span, reader, events),
    instrumentation: mapInstrumentation(reader, source, context.vendor),
    context: compact({
      threadId:
        reader.text(commonRows.threadId) ??
        context.context.threadId ??
        textOf(source.resource.attributes, 'session.id'),
      agentId: reader.text(commonRows.agentId) ?? context.context.agentId,
      userId:
        reader.text(commonRows.userId) ??
        context.context.userId ??
        textOf(source.resource.attributes, 'user.id'),
    }),
    additionalProperties: mapDimensions(span, reader, context),
  };
  const otel = mapRest(span, {
    attributes: reader.rest(),
    source: context.sourceJson,
    events,
    taken: messages.taken,
  });
  return {
    id: eventIdOf(span.traceId, span.spanId),
    type: role.kind,
    traceId: traceUuidOf(span.traceId),
    startTimeMs: toMs(span.startNs),
    endTimeMs: toMs(span.endNs),
    durationMs: Number(span.endNs - span.startNs) / 1e6,
    ...common,
    properties: { [role.kind]: { ...payload, otel } },
  };
}

/** A double holds a time of this century to the microsecond. All digits are stored under `otel`. */
export function toMs(ns: bigint): number {
  return Number(ns / 1_000n) / 1_000;
}

const statusOk = 1;
export const statusError = 2;

function mapStatus(span: Span, reader: AttributeReader, events: readonly SpanEvent[]): JsonObject {
  const isError =
    span.status.code === statusError ||
    (span.status.code !== statusOk && textOf(span.attributes, 'error.type') !== undefined) ||
    textOf(span.attributes, 'langfuse.observation.level') === 'ERROR' ||
    failedPattern.test(String(reader.get('gen_ai.response.finish_reasons') ?? ''));
  if (!isError) return { state: 'ok' };
  const exception = events.findLast(({ name }) => name === 'exception');
  const code = reader.text(commonRows.errorCode) ?? attributeOf(exception, 'exception.type');
  const message =
    (span.status.message || attributeOf(exception, 'exception.message')) ??
    reader.text(commonRows.errorMessage);
  const error = compact({
    code:
      code === 'Exception'
        ? (printedException.exec(message ?? '')?.[1] ?? code)
        : code?.replace(pythonClass, '$1'),
    httpStatus:
      reader.number(commonRows.errorHttpStatus) ??
      (httpStatusPattern.test(code ?? '') ? Number(code) : undefined),
    message: message && withoutStack(message),
  });
  return compact({ state: 'error', error: unlessEmpty(error) });
}

/** A call whose only finish reason is `error` failed, also when its span has no status (Mastra). */
const failedPattern = /^(?:\["error"\]|error)$/;

/** Google's client and LiveKit have the status as the type of the error. */
const httpStatusPattern = /^[45]\d\d$/;

/** Semantic Kernel sends the class of an exception as Python prints it. */
const pythonClass = /^<class '(.+)'>$/;

/**
 * LangSmith creates an exception whose message is the original one as Python prints it:
 * `BadRequestError('…')`.
 */
const printedException = /^([A-Za-z_]\w*)\(/;

/** LangChain's messages end with the stack trace. All of the status is stored under `otel`. */
function withoutStack(message: string): string {
  const start = message.search(/Traceback \(most recent call last\):|\n +at /);
  return start < 1 ? message : (message.slice(0, start).trimEnd().split('\n\n')[0] ?? message);
}

function attributeOf(event: SpanEvent | undefined, name: string): string | undefined {
  return event && textOf(event.attributes, name);
}

/** The default service name of OpenTelemetry's SDKs. */
const unnamedService = /^unknown_service/;

function mapInstrumentation(reader: AttributeReader, source: SpanSource, vendor: string): JsonObject {
  const service = textOf(source.resource.attributes, 'service.name');
  const named = service === undefined || unnamedService.test(service) ? undefined : service;
  const sourcePackage = source.scope.name || 'opentelemetry';
  return { vendor, source: takeProvider(reader) ?? named ?? sourcePackage, sourcePackage };
}

/** Vercel appends the interface to the provider's name: `openai.chat` is OpenAI. */
const interfaceSuffix = /\.(?:chat|completion|responses|messages|generative-ai)$/;

/** LangSmith sends this as the provider of calls that failed. Their metadata has the provider. */
const framework = 'langchain';

function takeProvider(reader: AttributeReader): string | undefined {
  const isText = (value: Json) => typeof value === 'string' && value !== '';
  const found =
    reader.find(commonRows.source, (value) => isText(value) && value !== framework) ??
    reader.find(commonRows.source, isText);
  if (found === undefined) return undefined;
  const name = unquoted(String(found.value));
  const provider = name.replace(interfaceSuffix, '');
  if (provider === name) reader.take(found);
  return provider;
}

/** Where and in which version the program ran: the dimensions that the SDK sends, too. */
function readDeployment({ attributes }: Span, { resource }: SpanSource): JsonObject {
  const find = (own: readonly string[], ofResource: readonly string[]) =>
    own.map((name) => textOf(attributes, name)).find(Boolean) ??
    ofResource.map((name) => textOf(resource.attributes, name)).find(Boolean);
  const isOfSentry = textOf(resource.attributes, 'service.namespace') === 'sentry';
  return compact({
    environment: find(
      ['langfuse.environment', 'deployment.environment.name'],
      ['deployment.environment.name', 'deployment.environment', 'langfuse.environment'],
    ),
    // Sentry's service has the version of its SDK.
    release: find(['langfuse.release'], [...(isOfSentry ? [] : ['service.version']), 'langfuse.release']),
  });
}

/** The original ids, the id of the parent event, and the application's dimensions. */
function mapDimensions(
  span: Span,
  reader: AttributeReader,
  { source, parentSpanId }: EventContext,
): JsonObject {
  const parentEventId = parentSpanId === undefined ? undefined : eventIdOf(span.traceId, parentSpanId);
  return {
    ...readDeployment(span, source),
    ...takeDimensions(reader),
    ...compact({
      'otel.trace_id': span.traceId,
      'otel.span_id': span.spanId,
      'otel.parent_span_id': span.parentSpanId || undefined,
      'otel.parent_event_id': parentEventId,
      'service.name': textOf(source.resource.attributes, 'service.name'),
    }),
  };
}
