import { expect, test } from 'vitest';
import { formatBatchId, parseBatchId } from './batch-id.ts';

const one = { segmentId: '0199a0c0-1234-7abc-8def-0123456789ab', first: 0, last: 499 };
const other = { segmentId: '0199a0c0-1235-7abc-8def-0123456789ab', first: 12, last: 12 };

test('a batch id names each range of its batch, and is parsed to the same', () => {
  expect(formatBatchId([one, other])).toBe(
    '0199a0c0-1234-7abc-8def-0123456789ab:0-499, 0199a0c0-1235-7abc-8def-0123456789ab:12-12',
  );
  expect(parseBatchId(formatBatchId([one, other]))).toEqual([one, other]);
  expect(parseBatchId(formatBatchId([one]).toUpperCase())).toEqual([one]);
});

test.each(['', 'x', one.segmentId, `${one.segmentId}:4-3`, `${one.segmentId}:0-1,`, `${one.segmentId}:0`])(
  '%j is no batch id',
  (text) => expect(parseBatchId(text)).toBeUndefined(),
);
