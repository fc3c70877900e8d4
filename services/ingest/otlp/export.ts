import type { IncomingMessage, ServerResponse } from 'node:http';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { IngestError } from '../../../event/errors.ts';
import type { AnswerAfterBody } from '../../../platform/http/unread-body.ts';
import { authenticateExporter } from '../admit/authenticate.ts';
import { ClientGoneError } from '../body/body.ts';
import { type BatchDependencies, ingestRequest } from '../ingest-batch.ts';
import type { DecoderOf } from '../rpc/decoders.ts';
import { parseRpcEncoding } from '../rpc/encoding.ts';
import type { SpanBatch } from './batch/span-batch.ts';
import { type ExportEncoding, parseHttpEncoding } from './respond/encoding.ts';
import { type RespondExportError, sendMessage } from './respond/respond.ts';
import type { SenderLog } from './sender-log.ts';
import type { SpanCounter } from './span-counter.ts';

export interface ExportDependencies extends BatchDependencies {
  spanDecoder: DecoderOf<SpanBatch>;
  logDecoder: DecoderOf<SpanBatch>;
  spanCounter: SpanCounter;
  senderLog: SenderLog;
  answerAfterBody: AnswerAfterBody;
  respondExportError: RespondExportError;
}

export type ExportHandler = (
  dependencies: ExportDependencies,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

/** A kind of data that OpenTelemetry exports. */
interface Signal {
  /** The path over gRPC, gRPC-Web and Connect. Over HTTP the path ends in `/v1/` and the signal's name. */
  readonly rpcPath: string;
  /** @returns what the response says, once what the request contains is durable. @throws IngestError */
  take(received: Received): Promise<Answer & { readonly headers?: Record<string, string> }>;
}

interface Received {
  readonly dependencies: ExportDependencies;
  readonly request: IncomingMessage;
  readonly encoding: ExportEncoding;
}

export const signals = {
  traces: {
    rpcPath: rpcPathOf('trace', 'TraceService'),
    take: async (received) => {
      const { counts, rejection, headers } = await exportSpans(received, 'spanDecoder');
      const { rejected } = counts;
      const message = `${rejected} of the spans cannot be stored. The first: ${rejection}`;
      return rejected === 0 ? { headers } : { rejected: ['rejectedSpans', rejected], message, headers };
    },
  },
  // Instrumentations write the content of model calls to logs. Their records become part of the events of
  // their spans.
  logs: {
    rpcPath: rpcPathOf('logs', 'LogsService'),
    take: async (received) => {
      const { counts, rejection, headers } = await exportSpans(received, 'logDecoder');
      const { rejected, stored } = counts;
      if (rejected > 0)
        return { rejected: ['rejectedLogRecords', rejected], message: rejection ?? '', headers };
      return stored > 0 ? { headers } : { message: noCallInLogs, headers };
    },
  },
  // An error would appear every minute in the log of each program that exports all signals to one endpoint. A
  // partial success that rejects nothing and has a message is a warning in OTLP.
  metrics: {
    rpcPath: rpcPathOf('metrics', 'MetricsService'),
    take: async ({ dependencies, request }) => {
      const { unauthenticated, apiKeyCache, connections } = dependencies;
      const principal = await unauthenticated.admit(request, () =>
        authenticateExporter(request, apiKeyCache),
      );
      connections.note(request, principal.spaceId);
      return { message: 'Weir does not store metrics.' };
    },
  },
} as const satisfies Record<string, Signal>;

const noCallInLogs =
  'Of logs, Weir stores records that describe a call of a model or a tool. This request has none.';

function rpcPathOf(name: string, service: string): string {
  return `/opentelemetry.proto.collector.${name}.v1.${service}/Export`;
}

/** The handler of a signal over OTLP/HTTP, in protobuf and in JSON (ADR 15). */
export function exportOverHttp(signal: Signal): ExportHandler {
  return createHandler(signal, parseHttpEncoding);
}

/** The handler of a signal over gRPC, gRPC-Web and Connect. Their JSON is OTLP/JSON, too. */
export function exportOverRpc(signal: Signal): ExportHandler {
  return createHandler(signal, parseRpcEncoding);
}

/** The encoding of the response when Content-Type is missing or unknown: JSON is readable. */
const readable: ExportEncoding = { protocol: 'http', isJson: true };

/** @param parse reads the Content-Type. The handler throws ClientGoneError. */
function createHandler(
  signal: Signal,
  parse: (contentType: string) => ExportEncoding | undefined,
): ExportHandler {
  return async (dependencies, request, response) => {
    const encoding = parse(request.headers['content-type'] ?? '');
    try {
      if (encoding === undefined) throw new IngestError('unsupported_media_type', knownTypes);
      const { headers = {}, ...answer } = await signal.take({ dependencies, request, encoding });
      const message = encodeAnswer(answer, encoding);
      await dependencies.answerAfterBody(request, response, () =>
        sendMessage(response, encoding, { status: 200, headers, message }),
      );
    } catch (thrown) {
      if (thrown instanceof ClientGoneError) throw thrown;
      const error = IngestError.from(thrown);
      await dependencies.respondExportError({ request, response }, encoding ?? readable, error);
    }
  };
}

const knownTypes =
  'The Content-Type must be application/x-protobuf or application/json, or over RPC that of gRPC, gRPC-Web or Connect.';

/**
 * Ingests a request of spans or logs with the checks of a batch of events, in the same order. Throws what
 * `ingestRequest` throws.
 */
async function exportSpans(
  { dependencies, request, encoding }: Received,
  decoder: 'spanDecoder' | 'logDecoder',
): Promise<Pick<SpanBatch, 'counts' | 'rejection'> & { headers: Record<string, string> }> {
  const { principal, result, headers } = await ingestRequest(dependencies, request, {
    decoder: dependencies[decoder](encoding),
    protocol: encoding.protocol === 'http' ? 'otlp-http' : 'otlp-rpc',
    partsOf: ({ parts, nodes, notes }: SpanBatch) => ({ batches: parts, nodes, notes }),
    authenticate: authenticateExporter,
  });
  const { counts, rejection, senders } = result;
  dependencies.spanCounter.add(counts);
  dependencies.senderLog.add(principal.spaceId, senders);
  return { counts, rejection, headers: { ...headers, ...countHeaders(counts) } };
}

/** Counts for debugging missing spans with curl; exporters do not show them. */
function countHeaders({ stored, filtered }: SpanBatch['counts']): Record<string, string> {
  const filteredCount = Object.values(filtered).reduce((sum, count) => sum + count, 0);
  return { 'Weir-Spans-Stored': String(stored), 'Weir-Spans-Filtered': String(filteredCount) };
}

/** What the response to an exporter says. With neither member everything was accepted. */
interface Answer {
  /** The number of records that can never be stored, and the field of the signal's response that has it. */
  readonly rejected?: readonly [field: 'rejectedSpans' | 'rejectedLogRecords', count: number];
  /** The reason; without rejected records a warning. */
  readonly message?: string;
}

/**
 * An Export…ServiceResponse: `partial_success { rejected_…, error_message }`, with the same numbers for all
 * signals.
 */
function encodeAnswer({ rejected, message }: Answer, { isJson }: { readonly isJson: boolean }): Uint8Array {
  if (message === undefined) return Buffer.from(isJson ? '{}' : '');
  if (isJson) {
    const count = rejected && { [rejected[0]]: String(rejected[1]) };
    return Buffer.from(JSON.stringify({ partialSuccess: { ...count, errorMessage: message } }));
  }
  const partialSuccess = new BinaryWriter();
  if (rejected !== undefined) partialSuccess.tag(1, WireType.Varint).int64(rejected[1]);
  partialSuccess.tag(2, WireType.LengthDelimited).string(message);
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partialSuccess.finish()).finish();
}
