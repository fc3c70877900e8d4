import type { CallContext, Scope } from './context.ts';
import { dropUndefined } from './drop-undefined.ts';

/** The options of the client that apply to every event. */
export interface EventDefaults extends Pick<CallContext, 'tags' | 'release' | 'environment'> {
  vendor: string;
}

/**
 * The dimensions that the SDK adds to an event. The contract has no fields for them (docs/api.md §2.2). Tags have the form that
 * OTLP's tags have; `otel.parent_event_id` and the spans are what the trace page builds its tree from.
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
