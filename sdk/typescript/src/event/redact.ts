import { ignoreRejection } from '../runtime/callback.ts';
import { toDimensions } from './complete-event.ts';
import { composeEvent } from './compose-event.ts';
import { dropUndefined } from './drop-undefined.ts';
import type { EventProperties, WeirEvent } from './event.ts';
import { jsonTextOf } from './json-text.ts';

/** Changes an event before it leaves the application. `null` drops it. Must be synchronous. */
export type Mask = (event: WeirEvent) => WeirEvent | null;

export interface Redacted {
  /** Undefined when the mask dropped the event. */
  event: WeirEvent | undefined;
  /** Whether the mask failed, and the event was reduced to its metadata. */
  hasFailed: boolean;
}

/**
 * Runs the application's mask on a copy of the event. It fails closed: if the mask throws, or returns
 * anything but an event, no content, no identifier and no dimension of the event is kept.
 */
export function maskEvent(event: WeirEvent, mask: Mask): Redacted {
  try {
    const masked: unknown = mask(JSON.parse(composeEvent(event)));
    ignoreRejection(masked);
    if (masked === null) return { event: undefined, hasFailed: false };
    // Serialize here: a getter or toJSON of the masked event may throw, and that must fail closed, too.
    const plain: unknown = JSON.parse(jsonTextOf(masked) ?? '');
    if (isEvent(plain, event)) {
      const additionalProperties = toDimensions(plain.additionalProperties ?? {});
      return { event: { ...plain, id: event.id, additionalProperties }, hasFailed: false };
    }
  } catch {
    // Falls through to the event without its content.
  }
  return { event: { ...toMetadata(event), context: {}, additionalProperties: {} }, hasFailed: true };
}

/** Whether Weir would accept the shape of a masked event. */
function isEvent(value: unknown, { type }: WeirEvent): value is WeirEvent {
  const masked = value as Partial<WeirEvent> | null;
  const payload: unknown = masked?.properties?.[type];
  return masked?.type === type && typeof payload === 'object' && payload !== null;
}

/** The event without prompts, responses, arguments, results and error messages. */
export function toMetadata(event: WeirEvent): WeirEvent {
  const { state, error } = event.status;
  return {
    ...event,
    status: { state, ...(error && { error: pick(error, ['code', 'httpStatus']) }) },
    properties: metadataOf(event.properties),
  };
}

const llmFields = [
  'model',
  'usage',
  'serviceTier',
  'region',
  'cost',
  'responseId',
  'requestId',
  'timeToFirstChunkMs',
  'retries',
];

function metadataOf({ llm, tool }: EventProperties): EventProperties {
  if (tool) return { tool: pick(tool, ['name', 'callId']) };
  const { mode, toolCalls, finishReason } = llm?.output ?? {};
  const calls = Array.isArray(toolCalls) ? toolCalls.map((call) => pick(call, ['id', 'name'])) : undefined;
  return {
    llm: { ...pick(llm, llmFields), output: dropUndefined({ mode, toolCalls: calls, finishReason }) },
  };
}

function pick(source: unknown, fields: readonly string[]): Record<string, unknown> {
  const known = Object.entries(source ?? {});
  return Object.fromEntries(known.filter(([field]) => fields.includes(field)));
}
