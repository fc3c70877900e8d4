import { currentScope } from './context.ts';
import { dimensionsOf, type EventDefaults, toDimensions, toIdentifiers } from './dimensions.ts';
import type { EventInput, WeirEvent } from './event.ts';
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
    context: toIdentifiers({ threadId, agentId, agentGroupId, userId, ...input.context }),
    additionalProperties: toDimensions({
      ...(traceId !== undefined && !hasTraceId && { traceId: String(traceId) }),
      ...dimensionsOf(defaults, scope),
      ...scope.additionalProperties,
      ...input.additionalProperties,
    }),
    properties: input.properties,
  };
}
