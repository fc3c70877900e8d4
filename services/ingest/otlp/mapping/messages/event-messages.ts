import { parseIfJson } from '../../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json } from '../../../../../event/json/json-value.ts';
import { attributesToJson, textOf } from '../../spans/attributes.ts';
import type { SpanEvent } from '../../spans/span.ts';
import { objectIn } from '../json-object.ts';

/** The messages in a span's events, where older GenAI conventions put them. */
export interface EventMessages {
  readonly input: readonly Json[];
  readonly output: readonly Json[];
  /** The attributes of each event that are part of a message. */
  readonly taken: ReadonlyMap<SpanEvent, ReadonlySet<string>>;
}

/** The messages in one event, and the attributes that they were read from. */
interface Contribution {
  readonly to: 'input' | 'output';
  readonly messages: readonly Json[];
  readonly names: readonly string[];
}

/** Attributes of an event that are not part of its message. */
const contextNames = new Set(['gen_ai.system', 'gen_ai.provider.name', 'event.name']);

export function readEventMessages(events: readonly SpanEvent[]): EventMessages {
  const found = { input: [] as Json[], output: [] as Json[] };
  const taken = new Map<SpanEvent, ReadonlySet<string>>();
  for (const event of events) {
    for (const { to, messages, names } of contributionsOf(event)) {
      found[to].push(...messages);
      taken.set(event, new Set([...(taken.get(event) ?? []), ...names]));
    }
  }
  return { ...found, taken };
}

/** Pydantic AI before 1.0 and older Logfire send the events as a list in one attribute, mostly as JSON. */
export function readListedMessages(sent: Json | undefined): Omit<EventMessages, 'taken'> | undefined {
  const events = parseIfJson(sent ?? null);
  if (!Array.isArray(events)) return undefined;
  const found = { input: [] as Json[], output: [] as Json[] };
  for (const event of events.filter(isJsonObject)) {
    const { 'event.name': name, 'gen_ai.system': _system, 'gen_ai.message.index': _index, ...own } = event;
    const role = messageName.exec(String(name))?.[1];
    if (role !== undefined) found.input.push(unwrapped(own, role));
    if (name === 'gen_ai.choice') found.output.push(unwrapped(own, 'assistant'));
  }
  return found.input.length + found.output.length === 0 ? undefined : found;
}

const messageName = /^gen_ai\.(system|user|assistant|tool)\.message$/;

function contributionsOf(event: SpanEvent): Contribution[] {
  const { name, attributes } = event;
  const role = messageName.exec(name)?.[1];
  if (role !== undefined) return [messageOf(event, 'input', role)];
  if (name === 'gen_ai.choice') return [messageOf(event, 'output', 'assistant')];
  const lists = [
    { to: 'input', attribute: 'gen_ai.prompt', within: 'gen_ai.content.prompt' },
    { to: 'output', attribute: 'gen_ai.completion', within: 'gen_ai.content.completion' },
    { to: 'input', attribute: 'gen_ai.input.messages', within: 'gen_ai.client.inference.operation.details' },
    {
      to: 'output',
      attribute: 'gen_ai.output.messages',
      within: 'gen_ai.client.inference.operation.details',
    },
  ] as const;
  return lists.flatMap(({ to, attribute, within }) => {
    const value = name === within ? attributes.get(attribute) : undefined;
    if (value === undefined) return [];
    const json = parseIfJson(value);
    return [{ to, messages: Array.isArray(json) ? json : [json], names: [attribute] }];
  });
}

/** The message of an event that holds one message, in its attributes or in one attribute as JSON. */
function messageOf(event: SpanEvent, to: Contribution['to'], role: string): Contribution {
  const { attributes } = event;
  const body = objectIn(textOf(attributes, 'gen_ai.event.content'));
  if (body !== undefined) return { to, messages: [unwrapped(body, role)], names: ['gen_ai.event.content'] };
  const own = attributesToJson(attributes, contextNames);
  const members = Object.fromEntries(Object.entries(own).map(([key, value]) => [key, parseIfJson(value)]));
  return { to, messages: [unwrapped(members, role)], names: Object.keys(own) };
}

/** A choice holds its message, as JSON text or as plain text, and the finish reason. */
function unwrapped(members: { readonly [key: string]: Json }, role: string): Json {
  const { message, ...others } = members;
  if (typeof message === 'string' || Array.isArray(message)) return { role, ...others, content: message };
  return isJsonObject(message) ? { role, ...others, ...message } : { role, ...members };
}
