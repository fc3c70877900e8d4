import { expect, test } from 'vitest';
import { limitsOfProcess } from './limits.ts';

const mebibytes = (count: number) => count * 1024 ** 2;

test('one process has the limits of the machine', () => {
  expect(limitsOfProcess(1, mebibytes(10), 8)).toEqual({
    connectionsMax: 10_000,
    unauthenticatedMax: 1_000,
    decodesAtOnceMax: 3,
    bytesInFlightMax: mebibytes(10),
  });
  expect(limitsOfProcess(1, 1, 2).decodesAtOnceMax).toBe(1);
});

test('several processes share them, but each can hold the largest OTLP request', () => {
  expect(limitsOfProcess(4, mebibytes(512), 16)).toEqual({
    connectionsMax: 2_500,
    unauthenticatedMax: 250,
    decodesAtOnceMax: 2,
    bytesInFlightMax: mebibytes(128),
  });
  expect(limitsOfProcess(4, mebibytes(128), 8).bytesInFlightMax).toBe(mebibytes(64));
  expect(limitsOfProcess(4, mebibytes(32), 8).bytesInFlightMax).toBe(mebibytes(32));
});
