import { type CallContext, currentScope, type Scope } from './context.ts';
import { dropUndefined } from './drop-undefined.ts';
import type { EventInput, WeirEvent } from './event.ts';
import { jsonTextOf } from './json-text.ts';
import { createUuid, isUuidV4 } from './uuid.ts';

/** Completes an event as docs/api.md §2.2 requires: missing fields come from the scope or from defaults. */
export function completeEvent(input: EventInput, defaults: EventDefaults, nowMs: number): WeirEvent {
  const scope = currentScope();
  const { threadId, agentId, agentGroupId, userId } = scope;
  const { id = createUuid(), traceId = scope.traceId, startTimeMs = nowMs - (input.durationMs ?? 0) } = input;
  const { endTimeMs = startTimeMs + (input.durationMs ?? Math.max(0, nowMs - startTimeMs)) } = input;
  const hasTraceId = isUuidV4(traceId);
  return {
    // The id must be the first member: the spool finds it by its position.
    id: isUuidV4(id) ? id : createUuid(),
    type: input.type,
    ...(hasTraceId && { traceId }),
    startTimeMs,
    endTimeMs,
    durationMs: input.durationMs ?? endTimeMs - startTimeMs,
    status: input.status ?? { state: 'ok' },
    instrumentation: {
      source: 'application',
      sourcePackage: '@weir/sdk',
      ...input.instrumentation,
      vendor: input.instrumentation?.vendor ?? defaults.vendor,
    },
    context: toDimensions({ threadId, agentId, agentGroupId, userId, ...input.context }, false),
    additionalProperties: toDimensions({
      ...(traceId !== undefined && !hasTraceId && { traceId: String(traceId) }),
      ...dimensionsOf(defaults, scope),
      ...scope.additionalProperties,
      ...input.additionalProperties,
    }),
    properties: input.properties,
  };
}

/** The options of the client that apply to every event. */
export interface EventDefaults extends Pick<CallContext, 'tags' | 'release' | 'environment'> {
  vendor: string;
}

/**
 * The dimensions that the SDK adds to an event. The contract has no fields for them (docs/api.md §2.2). Tags
 * have the form that OTLP's tags have; `otel.parent_event_id` and the spans are what the trace page builds
 * its tree from.
 */
export function dimensionsOf(defaults: EventDefaults, scope: Scope): Record<string, string> {
  const { spans = [] } = scope;
  const tags = [...(defaults.tags ?? []), ...(scope.tags ?? [])];
  return dropUndefined({
    release: scope.release ?? defaults.release,
    environment: scope.environment ?? defaults.environment,
    tags: [...new Set(tags)].join(', ') || undefined,
    'span.path': spans.map(({ name }) => name).join(' > ') || undefined,
    'span.ids': spans.map(({ id }) => id).join('/') || undefined,
    'otel.parent_event_id': scope.parentEventId,
  });
}

/**
 * The members as Weir takes dimensions: texts and numbers. One of another type would have every event that it
 * is in refused: it becomes text, and is left out when it has none.
 *
 * @param hasNumbers false for identifiers, which are texts.
 */
export function toDimensions(members: object, hasNumbers?: true): Record<string, string | number>;
export function toDimensions(members: object, hasNumbers: false): Record<string, string>;
export function toDimensions(members: object, hasNumbers = true): Record<string, string | number> {
  const known = Object.entries(members).map(([name, value]) => [
    name,
    hasNumbers && Number.isFinite(value) ? value : toText(value),
  ]);
  return dropUndefined(Object.fromEntries(known));
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'function') return undefined;
  if (value instanceof Date) return value.toJSON() ?? undefined;
  return typeof value === 'object' ? jsonTextOf(value) : String(value);
}
