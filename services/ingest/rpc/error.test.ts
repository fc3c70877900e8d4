import { readFileSync } from 'node:fs';
import type { DescFile } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { type ErrorId, errorTable, IngestError } from '../../../event/errors.ts';
import { ErrorDetailSchema } from '../../../gen/weir/ingest/v1/error_detail_pb.ts';
import { file_weir_ingest_v1_ingest_service } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { toConnectError } from './error.ts';

const proto = new URL('../../../proto/weir/ingest/v1/ingest_service.proto', import.meta.url);

test('generic clients can decode the detail of an error: the service imports its type', () => {
  const importsOf = (file: DescFile): DescFile[] => [file, ...file.dependencies.flatMap(importsOf)];
  const messages = importsOf(file_weir_ingest_v1_ingest_service).flatMap((file) => file.messages);
  expect(messages.map(({ typeName }) => typeName)).toContain(ErrorDetailSchema.typeName);
});

test('the .proto documents the code of every error', () => {
  const text = readFileSync(proto, 'utf8');
  const documented = [...text.matchAll(/^ {2}\/\/ {3}([A-Z_]+) +([a-z_, ]+)$/gm)].flatMap(([, code, ids]) =>
    (ids ?? '').split(', ').map((id) => [id, code]),
  );
  const notByCalls: ErrorId[] = ['not_found', 'method_not_allowed', 'unsupported_media_type'];
  const thrown = Object.keys(errorTable).filter((id) => !notByCalls.includes(id as ErrorId)) as ErrorId[];
  const upper = (id: ErrorId) => errorTable[id].rpcCode.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(thrown.map((id) => [id, upper(id)])));
});

test('an error contains the error of the JSON API, and Retry-After if a retry helps', () => {
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
