import { type IngestResponse, openIngestClient } from '../../lib/client/ingest-client.ts';
import { createLatencies } from '../../lib/client/latencies.ts';
import { type SendError, sendWithRetry, unexpectedAnswer } from '../../lib/client/send-with-retry.ts';
import { openSpanFile, type SpanRequestBody } from '../../lib/client/span-file.ts';
import { errorTable } from '../../lib/errors.ts';
import { sendRetryForMs, sendTimeoutMs } from '../limits.ts';
import type { Progress } from './progress.ts';
import type { SendBodyOptions } from './send-body.ts';
import { createTally, type SendSummary, type Tally } from './send-summary.ts';

export interface SendSpansOptions {
  url: string;
  apiKey: string;
  /** Requests at once. */
  concurrency: number;
  progress: Progress;
}

/**
 * Sends every request of a file of spans to ingest, byte for byte, as OTLP/JSON. The same file sent twice stores each
 * span once: event ids are those of the spans.
 *
 * @returns the counts of events. Errors of requests and responses are counted, not thrown.
 * @throws the error of node:fs when the file cannot be opened.
 */
export async function sendSpans(path: string, options: SendSpansOptions): Promise<SendSummary> {
  const tally = createTally();
  const latencies = createLatencies();
  const file = await openSpanFile(path, ({ id, details }) =>
    tally.addRejected({ status: errorTable[id].status, id, details }, 1),
  );
  await using http = openIngestClient({
    url: options.url,
    path: '/v1/traces',
    apiKey: options.apiKey,
    connections: options.concurrency,
    timeoutMs: sendTimeoutMs,
  });
  const sendRequests = async () => {
    for await (const request of file.requests) {
      await sendRequest(request, { ...options, post: http.post, tally, onResponse: latencies.record });
      const share = file.sizeBytes === 0 ? 1 : file.bytesRead() / file.sizeBytes;
      options.progress.show({ share, accepted: tally.accepted(), rejected: tally.rejected() });
    }
  };
  const started = performance.now();
  // The concurrent loops share one iterator: each takes the next request when its previous one is settled.
  await Promise.all(Array.from({ length: options.concurrency }, sendRequests));
  return tally.sum(performance.now() - started, latencies);
}

async function sendRequest({ line, bytes }: SpanRequestBody, options: SendBodyOptions): Promise<void> {
  const { post, tally, progress, onResponse } = options;
  let answer: IngestResponse | undefined;
  const { error, attempts } = await sendWithRetry(post, bytes, {
    retryForMs: sendRetryForMs,
    onResponse,
    onRetry: ({ status, details }) => {
      progress.warn(`${status ?? 'No answer'} (${details}): retrying for up to ${sendRetryForMs / 1_000} s.`);
    },
    describeResponse: (response) => {
      answer = response;
      return describeResponse(response);
    },
  });
  tally.addRequests(attempts);
  if (error !== undefined) tally.addRejected({ ...error, details: `Line ${line}: ${error.details}` }, 1);
  else if (answer !== undefined) countSpans(answer, line, tally);
}

function countSpans({ header, body }: IngestResponse, line: number, tally: Tally): void {
  tally.addAccepted(Number(header('weir-spans-stored')));
  tally.addFiltered(Number(header('weir-spans-filtered')));
  const { rejectedSpans = 0, errorMessage = '' } = readJson(body).partialSuccess ?? {};
  const rejected = Number(rejectedSpans);
  const details = `Line ${line}: ${errorMessage}`;
  if (rejected > 0) tally.addRejected({ status: 200, id: 'partial_success', details }, rejected);
}

/** The response bodies of OTLP: google.rpc.Status, or ExportTraceServiceResponse. */
interface AnswerBody {
  message?: string;
  partialSuccess?: { rejectedSpans?: string; errorMessage?: string };
}

/** Parses the message of an error, which starts with its `error.id`. */
function describeResponse({ status, body }: IngestResponse): SendError | undefined {
  if (status === 200) return undefined;
  const [, id, details] = /^(\w+): (.*)$/s.exec(readJson(body).message ?? '') ?? [];
  if (id === undefined || details === undefined) return { status, ...unexpectedAnswer(body) };
  return { status, id, details };
}

function readJson(text: string): AnswerBody {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
