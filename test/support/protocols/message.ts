import { create, fromJson, type JsonValue, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { ListValueSchema, ValueSchema } from '@bufbuild/protobuf/wkt';
import { type EventSchema, Status_State } from '../../../gen/weir/ingest/v1/event_pb.ts';
import { IngestEventsRequestSchema } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';

// biome-ignore lint/suspicious/noExplicitAny: fixtures are any JSON; invalid ones throw when the message is created.
type Json = any;
export type EventInit = MessageInitShape<typeof EventSchema>;

/**
 * Converts an event of the JSON API to a message of the RPC: known fields in their place, further ones in
 * `extra`.
 */
export function toMessage({ status, properties, type, ...event }: Json): EventInit {
  return {
    ...event,
    ...(status && {
      status: {
        state: { ok: Status_State.OK, error: Status_State.ERROR }[status.state as 'ok'],
        ...(status.error && { error: toFailure(status.error) }),
      },
    }),
    ...(properties && { payload: toPayload(type, properties) }),
  };
}

export function toRequest(events: readonly Json[]): Uint8Array {
  return toBinary(
    IngestEventsRequestSchema,
    create(IngestEventsRequestSchema, { events: events.map(toMessage) }),
  );
}

function toFailure({ code, httpStatus, ...error }: Json) {
  return { ...error, ...value('code', code), ...value('httpStatus', httpStatus) };
}

function toPayload(type: string, { llm, tool }: Json): EventInit['payload'] {
  if (type === 'tool') {
    const { name, input, output, ...extra } = tool;
    return {
      case: 'tool',
      value: { name, ...value('input', input), ...value('output', output), ...more(extra) },
    };
  }
  const { model, input, output, usage, ...extra } = llm;
  return {
    case: 'llm',
    value: {
      model,
      ...(input && { input: toInput(input) }),
      ...(output && { output: toOutput(output) }),
      ...(usage && { usage: toUsage(usage) }),
      ...more(extra),
    },
  };
}

function toInput({ system, prompt, tools, ...extra }: Json) {
  return { system, prompt, ...list('tools', tools), ...more(extra) };
}

function toOutput({ mode, response, toolCalls, ...extra }: Json) {
  return { mode, response, ...list('toolCalls', toolCalls), ...more(extra) };
}

function toUsage({ inputTokenDetails, outputTokenDetails, ...usage }: Json) {
  const { inputTokens, outputTokens, totalTokens, ...extra } = usage;
  return {
    inputTokens,
    ...(inputTokenDetails && { inputTokenDetails: toInputDetails(inputTokenDetails) }),
    outputTokens,
    ...(outputTokenDetails && { outputTokenDetails: toOutputDetails(outputTokenDetails) }),
    totalTokens,
    ...more(extra),
  };
}

function toInputDetails({ uncachedTokens, cacheReadTokens, cacheWriteTokens, ...extra }: Json) {
  return { uncachedTokens, cacheReadTokens, cacheWriteTokens, ...more(extra) };
}

function toOutputDetails({ reasoningTokens, responseTokens, ...extra }: Json) {
  return { reasoningTokens, responseTokens, ...more(extra) };
}

function value(name: string, json: JsonValue | undefined) {
  return json === undefined ? {} : { [name]: fromJson(ValueSchema, json, { recursionLimit: 2_000 }) };
}

function list(name: string, json: JsonValue | undefined) {
  return json === undefined ? {} : { [name]: fromJson(ListValueSchema, json, { recursionLimit: 2_000 }) };
}

function more(extra: Json) {
  return Object.keys(extra).length === 0 ? {} : { extra };
}
