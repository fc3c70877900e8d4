import type { IncomingMessage } from 'node:http';
import { authenticateExporter } from '../admit/authenticate.ts';
import { type BatchDependencies, ingestRequest, type RequestDecoder } from '../ingest-batch.ts';
import type { SpanBatch } from './batch/span-batch.ts';
import type { SpanCounter } from './span-counter.ts';

export interface ExportDependencies extends BatchDependencies {
  spanCounter: SpanCounter;
}

/** What the client of a durable request is answered. */
export interface ExportReceipt {
  readonly batch: SpanBatch;
  readonly headers: Record<string, string>;
}

/**
 * Ingests one request of spans, whatever protocol it was sent by: the same checks in the same order as a batch of events.
 * Its LLM and tool spans are durable as events when it resolves; all others are counted and left out.
 *
 * @throws what `ingestRequest` throws.
 */
export async function exportSpans(
  dependencies: ExportDependencies,
  request: IncomingMessage,
  decoder: RequestDecoder<SpanBatch>,
): Promise<ExportReceipt> {
  const { result: batch, headers } = await ingestRequest(dependencies, request, {
    decoder,
    batchesOf: ({ parts }) => parts,
    authenticate: authenticateExporter,
  });
  dependencies.spanCounter.add(batch.counts);
  return { batch, headers: { ...headers, ...countHeaders(batch) } };
}

/** An exporter shows nobody these; whoever looks for missing spans with curl sees them. */
function countHeaders({ counts: { stored, filtered } }: SpanBatch): Record<string, string> {
  const filteredCount = Object.values(filtered).reduce((sum, count) => sum + count, 0);
  return { 'Weir-Spans-Stored': String(stored), 'Weir-Spans-Filtered': String(filteredCount) };
}
