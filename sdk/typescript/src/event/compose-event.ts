import type { WeirEvent } from './event.ts';
import { JsonText, jsonTextOf } from './json-text.ts';

/**
 * Serializes an event. The input of its payload, or members of that input, may be `JsonText`, which is
 * inserted unchanged; the rest is serialized in as few pieces as possible.
 *
 * @throws Error when a value cannot be serialized.
 */
export function composeEvent(event: WeirEvent): string {
  const { properties, ...head } = event;
  const payload = properties[event.type];
  const input = payload?.input;
  if (payload === undefined || !hasText(input)) return jsonTextOf(event) ?? '';
  const { input: _, ...rest } = payload;
  const payloadText = join(jsonTextOf(rest) ?? '{}', `"input":${textOf(input)}`);
  return join(jsonTextOf(head) ?? '{}', `"properties":{"${event.type}":${payloadText}}`);
}

function hasText(input: unknown): input is JsonText | Record<string, unknown> {
  if (input instanceof JsonText) return true;
  // Lists never contain JsonText, and searching a list of a million numbers takes a second.
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return false;
  // Do not read the values: a getter of the application may throw.
  const members = Object.values(Object.getOwnPropertyDescriptors(input));
  return members.some(({ value }) => value instanceof JsonText);
}

function textOf(input: JsonText | Record<string, unknown>): string {
  if (input instanceof JsonText) return input.text;
  const members: string[] = [];
  for (const name in input) {
    const value = input[name];
    const text = value instanceof JsonText ? value.text : jsonTextOf(value);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/** Adds a member to an object's JSON text. */
function join(object: string, member: string): string {
  return object === '{}' ? `{${member}}` : `${object.slice(0, -1)},${member}}`;
}
