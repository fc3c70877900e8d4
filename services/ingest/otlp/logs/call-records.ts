import { createHash } from 'node:crypto';
import type { Json } from '../../../../event/json/json-value.ts';
import { asNumber } from '../mapping/attribute-reader.ts';
import { statusError } from '../mapping/span-to-event.ts';
import { type Attributes, attributesToJson, lazyAttributes, textOf } from '../spans/attributes.ts';
import { type Span, unsentFields } from '../spans/span.ts';
import type { LogRecord } from './log-record.ts';

/*
 * Coding agents (Claude Code, Codex, Gemini CLI, Qwen Code) write one log record for each call of a model and
 * of a tool, with its tokens or its result and with the time it took. They name the records alike, with or
 * without a prefix:
 * `api_request`, `codex.sse_event`, `gemini_cli.api_response`.
 */

const modelRecords = /(?:^|\.)(?:api_request|api_response|api_error|sse_event)$/;
const toolRecords = /(?:^|\.)(?:tool_result|tool_call)$/;

/**
 * The attributes of the records, by the name of the convention for spans. The first that is present is taken.
 */
const renamed: Readonly<Record<string, readonly string[]>> = {
  'gen_ai.request.model': ['model'],
  'gen_ai.usage.input_tokens': ['input_token_count'],
  'gen_ai.usage.output_tokens': ['output_token_count'],
  'gen_ai.usage.cache_read.input_tokens': ['cached_token_count', 'cached_content_token_count'],
  'gen_ai.usage.cache_write.input_tokens': ['cache_write_token_count'],
  'gen_ai.usage.reasoning.output_tokens': ['reasoning_token_count'],
  'gen_ai.usage.total_tokens': ['total_token_count'],
  'gen_ai.response.id': ['gen_ai.response.id', 'request_id', 'response_id'],
  'gen_ai.response.finish_reasons': ['finish_reasons'],
  'gen_ai.completion': ['response_text'],
  'gen_ai.tool.name': ['tool_name', 'function_name'],
  'gen_ai.tool.call.id': ['tool_use_id', 'call_id'],
  'gen_ai.tool.call.arguments': ['tool_input', 'arguments', 'function_args', 'tool_parameters'],
  'gen_ai.tool.call.result': ['output'],
  'gen_ai.agent.name': ['subagent_name'],
  'gen_ai.conversation.id': ['session.id', 'conversation.id'],
  'user.id': ['user.id', 'user.account_id', 'user.email'],
  'error.type': ['error.type', 'error_type'],
  'http.response.status_code': ['http.response.status_code', 'http.status_code', 'status_code'],
};

const inputTokenNames = ['input_tokens', 'input_token_count'];
const errorNames = ['error.message', 'error'];
const promptNames = ['prompt.id', 'prompt_id'];

/** Agents whose spans have less of a call than their records. */
const agentsOfRecords = /^(?:codex|gemini_cli)\./;
/** An agent whose records of model calls name the span of the call, and have the text of the response. */
const agentOfBoth = /^qwen-code\./;

/**
 * Whether a record describes a whole call: of a model with its tokens or its error, or of a tool. A record of
 * another agent in a span is not one: its spans describe the calls.
 */
export function isCallRecord({ name, spanId, attributes }: LogRecord): boolean {
  const isKept = agentsOfRecords.test(name) || (agentOfBoth.test(name) && !toolRecords.test(name));
  if (spanId !== '' && !isKept) return false;
  if (toolRecords.test(name)) return firstOf(attributes, ['tool_name', 'function_name']) !== undefined;
  if (!modelRecords.test(name) || textOf(attributes, 'model') === undefined) return false;
  const endpoint = textOf(attributes, 'endpoint');
  if (endpoint !== undefined && !/responses|chat|messages/.test(endpoint)) return false;
  return firstOf(attributes, inputTokenNames) !== undefined || errorOf(attributes) !== undefined;
}

/**
 * Identifies the moment of a call in the records of one session: Gemini CLI writes another record with the
 * content.
 */
export function momentOf({ attributes }: LogRecord): string | undefined {
  const time = textOf(attributes, 'event.timestamp');
  return time === undefined ? undefined : JSON.stringify([attributes.get('session.id') ?? null, time]);
}

/** @param content the record with the messages of the call, if there is one. */
export function toCallSpan(record: LogRecord, content?: LogRecord): Span {
  const { attributes, name, timeNs } = record;
  const own = renameAll(content === undefined ? [attributes] : [content.attributes, attributes]);
  own.set('gen_ai.operation.name', toolRecords.test(name) ? 'execute_tool' : 'chat');
  const message = errorOf(attributes);
  const isFailed = message !== undefined || String(attributes.get('success')) === 'false';
  return {
    ...unsentFields,
    ...idsOf(record),
    parentSpanId: agentOfBoth.test(name) ? record.spanId : '',
    name,
    startNs: timeNs - durationOf(attributes),
    endNs: timeNs || 1n,
    attributes: lazyAttributes(own, (value) => value),
    ...(isFailed && { status: { code: statusError, message: message ?? '' } }),
  };
}

/** Longest call, in milliseconds: a day. A longer duration is a mistake of the sender. */
const durationMsMax = 86_400_000;

function durationOf(attributes: Attributes): bigint {
  const ms = asNumber(attributes.get('duration_ms')) ?? 0;
  return ms > 0 && ms < durationMsMax ? BigInt(Math.round(ms * 1e6)) : 0n;
}

/** The attributes of all records, by the names of the convention for spans. */
function renameAll(sources: readonly Attributes[]): Map<string, Json> {
  const own = new Map(sources.flatMap((sent) => Object.entries(attributesToJson(sent))));
  for (const [name, candidates] of Object.entries(renamed)) {
    const found = candidates.find((candidate) => isPresent(own.get(candidate)));
    if (found === undefined) continue;
    const value = own.get(found) ?? null;
    own.delete(found);
    own.set(name, value);
  }
  return own;
}

/**
 * The calls of one prompt, or else of one session, are a trace. The same record, sent again, has the same
 * ids.
 */
function idsOf({ traceId, name, timeNs, attributes }: LogRecord): { traceId: string; spanId: string } {
  const all = attributesToJson(attributes);
  const session = firstOf(attributes, ['session.id', 'conversation.id']) ?? all;
  const prompt = firstOf(attributes, promptNames) ?? null;
  return {
    traceId: traceId === '' ? hash(['trace', session, prompt]).slice(0, 32) : traceId,
    spanId: hash(['span', session, prompt, name, String(timeNs), all]).slice(0, 16),
  };
}

function hash(values: readonly Json[]): string {
  return createHash('sha256').update('weir-otlp-log-1').update(JSON.stringify(values)).digest('hex');
}

function firstOf(attributes: Attributes, names: readonly string[]): Json | undefined {
  return names.map((name) => attributes.get(name)).find(isPresent);
}

function errorOf(attributes: Attributes): string | undefined {
  return errorNames.map((name) => textOf(attributes, name)).find((text) => text !== undefined);
}

function isPresent(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== '';
}
