import type { IncomingMessage } from 'node:http';
import { authenticateExporter } from '../admit/authenticate.ts';
import { type BatchDependencies, ingestRequest, type RequestDecoder } from '../ingest-batch.ts';
import type { Protocol } from '../metrics.ts';
import type { SpanBatch } from './batch/span-batch.ts';
import type { SenderLog } from './sender-log.ts';
import type { SpanCounter } from './span-counter.ts';

export interface ExportDependencies extends BatchDependencies {
  spanCounter: SpanCounter;
  senderLog: SenderLog;
}

/** The response to a durable request. */
export interface ExportReceipt {
  readonly batch: SpanBatch;
  readonly headers: Record<string, string>;
}

/**
 * Ingests one request of spans of any protocol, with the same checks in the same order as a batch of events. When it
 * resolves, the LLM and tool spans are durable as events; all others are counted and dropped.
 *
 * @throws what `ingestRequest` throws.
 */
export async function exportSpans(
  dependencies: ExportDependencies,
  request: IncomingMessage,
  kind: { decoder: RequestDecoder<SpanBatch>; protocol: Protocol },
): Promise<ExportReceipt> {
  const {
    spaceId,
    result: batch,
    headers,
  } = await ingestRequest(dependencies, request, {
    ...kind,
    batchesOf: ({ parts }) => parts,
    nodesOf: ({ nodes }) => nodes,
    authenticate: authenticateExporter,
  });
  dependencies.spanCounter.add(batch.counts);
  dependencies.senderLog.add(spaceId, batch.senders);
  return { batch, headers: { ...headers, ...countHeaders(batch) } };
}

/** Counts for debugging missing spans with curl; exporters do not show them. */
function countHeaders({ counts: { stored, filtered } }: SpanBatch): Record<string, string> {
  const filteredCount = Object.values(filtered).reduce((sum, count) => sum + count, 0);
  return { 'Weir-Spans-Stored': String(stored), 'Weir-Spans-Filtered': String(filteredCount) };
}
