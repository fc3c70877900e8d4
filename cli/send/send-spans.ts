import { type IngestResponse, openIngestClient } from '../client/ingest-client.ts';
import { isTransient, type SendError, sendWithRetry, unexpectedAnswer } from '../client/send-with-retry.ts';
import { openSpanFile, type SpanRequestBody } from '../client/span-file.ts';
import { sendTimeoutMs } from '../limits.ts';
import { NotAcceptedError, retriesOf, type SendBodyOptions } from './send-body.ts';
import { type SendingFile, sendConcurrently } from './send-concurrently.ts';
import type { SendSummary, Tally } from './send-summary.ts';

/**
 * Sends every request of a file of spans to ingest, byte for byte, as OTLP/JSON. The same file sent twice
 * stores each span once: event ids are those of the spans.
 * @returns the counts of events. Errors of requests and responses are counted, not thrown.
 * @throws the error of node:fs when the file cannot be opened.
 */
export async function sendSpans(path: string, sending: SendingFile): Promise<SendSummary> {
  const { url, apiKey, concurrency, settled, before } = sending;
  const file = await openSpanFile(path, settled.addBadLine, before?.position);
  await using http = openIngestClient({
    url,
    path: '/v1/traces',
    apiKey,
    connections: concurrency,
    timeoutMs: sendTimeoutMs,
  });
  return await sendConcurrently(sending, file, file.requests, {
    positionOf: ({ position }) => position,
    send: (request, options) => sendRequest(request, { ...options, post: http.post }),
  });
}

async function sendRequest({ line, bytes }: SpanRequestBody, options: SendBodyOptions): Promise<void> {
  const { post, tally } = options;
  let answer: IngestResponse | undefined;
  const { error, attempts } = await sendWithRetry(post, bytes, {
    ...retriesOf(options),
    describeResponse: (response) => {
      answer = response;
      return describeResponse(response);
    },
  });
  tally.addRequests(attempts);
  if (error !== undefined && isTransient(error.status)) throw new NotAcceptedError(error);
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

/** google.rpc.Status, or ExportTraceServiceResponse. */
interface AnswerBody {
  message?: string;
  partialSuccess?: { rejectedSpans?: string; errorMessage?: string };
}

/** The message starts with its `error.id`. */
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
