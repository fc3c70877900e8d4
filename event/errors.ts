import type { Code } from '@connectrpc/connect';
import { errorDetailsCharsMax } from '../platform/limits.ts';

/** Every error of ingest, with its `condition` in docs/api.md §7. The last three are not in the contract. */
export const errorTable = {
  invalid_request_body: {
    status: 400,
    rpcCode: 'InvalidArgument',
    title: 'Invalid request body',
    condition: 'Body is missing or is not valid JSON.',
  },
  invalid_event_batch: {
    status: 400,
    rpcCode: 'InvalidArgument',
    title: 'Invalid event batch',
    condition: 'JSON does not match { events: [...] } with valid events.',
  },
  unauthorized: {
    status: 401,
    rpcCode: 'Unauthenticated',
    title: 'Unauthorized',
    condition: 'API key missing, malformed, invalid or revoked.',
  },
  usage_limit_exceeded: {
    status: 402,
    rpcCode: 'ResourceExhausted',
    title: 'Usage limit exceeded',
    condition: 'The space has reached its monthly included event limit.',
  },
  billing_not_active: {
    status: 402,
    rpcCode: 'FailedPrecondition',
    title: 'Billing not active',
    condition: 'The subscription is not active.',
  },
  batch_too_large: {
    status: 413,
    rpcCode: 'ResourceExhausted',
    title: 'Batch too large',
    condition: 'Request body exceeds 4 MiB.',
  },
  too_many_events: {
    status: 413,
    rpcCode: 'InvalidArgument',
    title: 'Too many events',
    condition: 'More than 500 events in one request.',
  },
  internal_server_error: {
    status: 500,
    rpcCode: 'Internal',
    title: 'Internal server error',
    condition: 'Unexpected server error.',
  },
  ingest_unavailable: {
    status: 503,
    rpcCode: 'Unavailable',
    title: 'Ingest unavailable',
    condition: 'Ingest is temporarily unavailable.',
  },
  not_found: {
    status: 404,
    rpcCode: 'Unimplemented',
    title: 'Not found',
    condition: 'There is nothing at this path.',
  },
  method_not_allowed: {
    status: 405,
    rpcCode: 'Unimplemented',
    title: 'Method not allowed',
    condition: 'The path does not support this method.',
  },
  unsupported_media_type: {
    status: 415,
    rpcCode: 'Unknown',
    title: 'Unsupported media type',
    condition: 'The Content-Type of an RPC belongs to none of its protocols.',
  },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  /** The HTTP status of the JSON API. */
  status: number;
  /** A name in Connect, a number in gRPC. */
  rpcCode: keyof typeof Code;
  title: string;
  condition: string;
}

export type ErrorId = keyof typeof errorTable;

/** docs/api.md §7. */
export interface ErrorBody {
  error: { id: ErrorId; title: string; status: number; details: string };
}

/** An error for the client: `details` is public, and never names internal state; `cause` is for the log. */
export class IngestError extends Error {
  readonly id: ErrorId;

  constructor(id: ErrorId, details: string, options?: { cause: unknown }) {
    const shown =
      details.length > errorDetailsCharsMax ? `${details.slice(0, errorDetailsCharsMax - 1)}…` : details;
    // gRPC cannot encode a lone surrogate: its response would be lost.
    super(shown.toWellFormed(), options);
    this.name = 'IngestError';
    this.id = id;
  }

  get status(): number {
    return errorTable[this.id].status;
  }

  /** docs/api.md §7. */
  toBody(): ErrorBody {
    const { status, title } = errorTable[this.id];
    return { error: { id: this.id, title, status, details: this.message } };
  }

  /** An unexpected error becomes a 500 without internal details. */
  static from(thrown: unknown): IngestError {
    if (thrown instanceof IngestError) return thrown;
    return new IngestError(
      'internal_server_error',
      'An unexpected error occurred. Retry with the same event ids.',
      { cause: thrown },
    );
  }
}
