import { stringifyExact } from '../../../event/json/exact-json.ts';
import type { Json, JsonObject } from '../../../event/json/json-value.ts';
import { membersOf, type SpanPart } from './parts.ts';

/** The name of a span that stands for log records with one message of a call each. */
export const logMessagesName = 'gen_ai.messages';

const recordNames = {
  input: /^gen_ai\.(?:system|user|assistant|tool)\.message$/,
  output: /^gen_ai\.choice$/,
};

/** A log record, and the part of the request that it came in. */
interface MessageRecord {
  readonly part: SpanPart;
  readonly name: string;
  readonly timeNs: bigint;
  readonly message: Json;
  /** Equal for one record in two requests: an exporter's retry may be cut in another way. */
  readonly key: string;
}

export function isOfLogMessages({ otel }: SpanPart): boolean {
  return otel.name === logMessagesName;
}

/** The parts in a stable order; those of log records last, by time, in whichever order they arrived. */
export function sortLogParts(parts: readonly SpanPart[]): SpanPart[] {
  const [logs, spans] = [parts.filter(isOfLogMessages), parts.filter((part) => !isOfLogMessages(part))];
  const keyed = logs.map((part) => ({ part, start: nsOf(part.otel.startTimeUnixNano) }));
  keyed.sort((a, b) => compare(a.start, b.start) || compare(a.part.spanId, b.part.spanId));
  return [...spans, ...keyed.map(({ part }) => part)];
}

/**
 * The inputs or outputs of the parts of one call. Where an exporter cut its log records into several
 * requests, their messages are joined in the order of their times, each record once.
 */
export function joinLogMessages(direction: 'input' | 'output', parts: readonly SpanPart[]): JsonObject[] {
  const records = new Map(parts.map((part) => [part, recordsOf(direction, part)]));
  const cut = parts.filter((part) => records.get(part)?.length);
  const sections = (own: readonly SpanPart[]) => own.map((part) => part.sections[direction]);
  if (cut.length < 2) return sections(parts);
  const all = cut.flatMap((part) => records.get(part) ?? []);
  const once = [...new Map(all.map((record) => [record.key, record])).values()];
  const ordered = once.sort((a, b) => compare(a.timeNs, b.timeNs));
  const joined = direction === 'input' ? joinInputs(ordered) : joinOutputs(ordered);
  return [
    { ...joined, messages: ordered.map(({ message }) => message) },
    ...sections(parts.filter((part) => !cut.includes(part))),
  ];
}

/** The records of a part; none when its messages are not those of its records. */
function recordsOf(direction: 'input' | 'output', part: SpanPart): MessageRecord[] {
  const { messages } = part.sections[direction];
  const events = Array.isArray(part.otel.events) ? part.otel.events.map(membersOf) : [];
  const own = events.filter(({ name }) => recordNames[direction].test(String(name)));
  if (!isOfLogMessages(part) || !Array.isArray(messages) || messages.length !== own.length) return [];
  const counts = new Map<string, number>();
  return own.map(({ name, timeUnixNano }, at) => {
    const message = messages[at] ?? null;
    const timeNs = nsOf(timeUnixNano);
    const key = `${timeNs} ${name} ${stringifyExact(message)}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return { part, name: String(name), timeNs, message, key: `${key} ${count}` };
  });
}

/** The prompt is the text of the last message of the user, as for records of one request. */
function joinInputs(records: readonly MessageRecord[]): JsonObject {
  const parts = distinct(records.map(({ part }) => part));
  const system = distinct(parts.flatMap(({ sections }) => sections.input.system ?? [])).join('\n');
  const asked = records.findLast(({ name }) => name === 'gen_ai.user.message')?.part;
  const { prompt } = asked?.sections.input ?? {};
  return { ...(system !== '' && { system }), ...(prompt !== undefined && { prompt }) };
}

/** Each record is a choice. */
function joinOutputs(records: readonly MessageRecord[]): JsonObject {
  const outputs = distinct(records.map(({ part }) => part)).map(({ sections }) => sections.output);
  const listOf = (name: string) => outputs.flatMap((output) => output[name] ?? []);
  const [response, ...otherResponses] = distinct(
    outputs.flatMap((output) => [output.response ?? [], output.otherResponses ?? []].flat()),
  );
  const calls = new Map(listOf('toolCalls').map((call) => [JSON.stringify(call), call]));
  return {
    ...Object.assign({}, ...outputs.toReversed()),
    ...(response !== undefined && { response }),
    ...(otherResponses.length > 0 && { otherResponses }),
    ...(calls.size > 0 && { mode: 'tool_calls', toolCalls: [...calls.values()] }),
    ...(outputs.some(({ finishReason }) => finishReason !== undefined) && {
      finishReason: distinct(listOf('finishReason')).join(', '),
    }),
  };
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** A time as the event has it, with all of its digits. */
function nsOf(time: Json | undefined): bigint {
  const text = stringifyExact(time ?? 0);
  return /^\d{1,20}$/.test(text) ? BigInt(text) : 0n;
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
