import { readFileSync } from 'node:fs';
import { Code } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { type ErrorId, errorTable, IngestError } from '../../../lib/errors.ts';
import { toConnectError } from './error.ts';

const proto = new URL('../../../proto/weir/ingest/v1/ingest_service.proto', import.meta.url);

test('the .proto tells clients the codes that errors have', () => {
  const text = readFileSync(proto, 'utf8');
  const told = [...text.matchAll(/^ {2}\/\/ {3}([A-Z_]+) +([a-z_, ]+)$/gm)].flatMap(([, code, ids]) =>
    (ids ?? '').split(', ').map((id) => [id, code]),
  );
  const nobodyCalls: ErrorId[] = ['not_found', 'method_not_allowed', 'unsupported_media_type'];
  const thrown = Object.keys(errorTable).filter((id) => !nobodyCalls.includes(id as ErrorId)) as ErrorId[];
  const upper = (id: ErrorId) => errorTable[id].rpcCode.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(thrown.map((id) => [id, upper(id)])));
});

test('an error carries the one of the JSON API, and asks for patience where a retry helps', () => {
  const error = toConnectError(new IngestError('ingest_unavailable', 'Retry later.'), {
    protocol: 'grpc',
    isJson: false,
  });
  expect(error.code).toBe(Code.Unavailable);
  expect(error.metadata.get('retry-after')).toBe('1');
  expect(error.details).toMatchObject([
    {
      value: { id: 'ingest_unavailable', title: 'Ingest unavailable', status: 503, details: 'Retry later.' },
    },
  ]);
});
