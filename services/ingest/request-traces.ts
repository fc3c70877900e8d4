import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../platform/log.ts';
import type { OwnSpan, OwnSpans } from '../../platform/tracing/own-spans.ts';
import { parseTraceparent } from '../../platform/tracing/traceparent.ts';
import { outcomeOf, type Protocol } from './metrics.ts';

export type RequestTraces = ReturnType<typeof openRequestTraces>;

/**
 * Follows each request: with a line of the log, and with a span of the trace that its client samples.
 * @returns undefined when requests are neither logged nor traced.
 */
export function openRequestTraces(log: Logger, spans: OwnSpans | undefined) {
  if (spans === undefined && !log.isLevelEnabled('debug')) return undefined;
  return {
    /** @throws what `run` throws. */
    async follow<T extends { eventCount: number; headers: Record<string, string> }>(
      request: IncomingMessage,
      protocol: Protocol,
      run: (span: OwnSpan | undefined) => Promise<T>,
    ): Promise<T> {
      const startedMs = performance.now();
      const parent = parseTraceparent(request.headers.traceparent);
      const span = parent?.isSampled ? spans?.start('ingest', parent, 'server') : undefined;
      const finish = (outcome: string, counts: { events?: number; batchId?: string | undefined } = {}) => {
        const trace = parent && { traceId: parent.traceId, parentSpanId: parent.spanId };
        const ms = Math.round(performance.now() - startedMs);
        log.debug({ protocol, outcome, ...counts, ms, ...trace }, 'request');
        const { events = 0 } = counts;
        span?.end(
          { 'weir.protocol': protocol, 'weir.outcome': outcome, 'weir.events': events },
          outcome !== 'accepted',
        );
      };
      try {
        const result = await run(span);
        finish('accepted', { events: result.eventCount, batchId: result.headers['Weir-Batch-Id'] });
        return result;
      } catch (error) {
        finish(outcomeOf(error));
        throw error;
      }
    },
  };
}
