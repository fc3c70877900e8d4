import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { findRepeatedIds } from './repeats.ts';

const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
const part = (spaceId: string, ...ids: string[]) =>
  create(PartSchema, { spaceId, columns: { id: ids.join() } });

test('positions count over all parts, and ids repeat only within a space', () => {
  expect(findRepeatedIds([part('one', a, b, c)])).toEqual([]);
  expect(findRepeatedIds([part('one', a, b, a), part('two', b, c, c), part('one', c, b)])).toEqual([3, 6, 8]);
});
