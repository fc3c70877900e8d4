import { Code } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { type ErrorId, errorTable, IngestError } from '../../../../event/errors.ts';
import { RetryInfoSchema } from '../../../../gen/google/rpc/error_details_pb.ts';
import { toExportError } from './export-error.ts';
import { toExportConnectError } from './rpc-error.ts';

const ids = Object.keys(errorTable) as ErrorId[];
const grpc = { protocol: 'grpc', isJson: false } as const;

test.each(ids)('%s is retried if it is a server error, and final if it is a client error', (id) => {
  const error = new IngestError(id, 'details');
  const isOurs = errorTable[id].status >= 500;
  const { status, code, isRetryable } = toExportError(error);
  expect(isRetryable).toBe(isOurs);
  // Exporters do not retry after 500 and INTERNAL.
  expect(status).toBe(isOurs ? 503 : errorTable[id].status);
  expect(code === Code.Unavailable).toBe(isOurs);
  const converted = toExportConnectError(error, grpc);
  expect(converted.details).toHaveLength(isOurs ? 1 : 0);
  expect(converted.metadata.get('Retry-After')).toBe(isOurs ? '1' : null);
});

test('an unexpected error is unavailable, and its cause is not public', () => {
  const error = IngestError.from(new Error('secret'));
  expect(toExportError(error).message).toBe(
    'internal_server_error: An unexpected error occurred. Retry later.',
  );
  const converted = toExportConnectError(error, grpc);
  expect(converted.code).toBe(Code.Unavailable);
  expect(converted.details).toMatchObject([{ desc: RetryInfoSchema }]);
  expect(converted.message).not.toContain('secret');
});
