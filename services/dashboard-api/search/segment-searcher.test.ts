import { expect, test } from 'vitest';
import type { FoundText } from '../../../event/segment/find-text.ts';
import { SegmentSearcher } from './segment-searcher.ts';

const wanted = { text: 'needle', matchCase: false };
const indexesOf = (found: readonly FoundText[]) => found.map(({ index }) => index);
const segmentOf = (...texts: string[]) =>
  Buffer.from(JSON.stringify({ events: texts.map((text) => ({ text })) }));

test('segments are searched on a thread, small and large ones, and each answer is that of its segment', async () => {
  await using searcher = new SegmentSearcher();
  const large = segmentOf('hay', `${'x'.repeat(200_000)} Needle`);
  const found = await Promise.all([
    searcher.find(segmentOf('hay', 'needle', 'hay'), wanted),
    searcher.find(large, wanted),
    searcher.find(segmentOf('Needle'), { ...wanted, matchCase: true }),
  ]);
  expect(found.map(indexesOf)).toEqual([[1], [1], []]);
  // The memory went to the thread: it was not copied.
  expect(large.byteLength).toBe(0);
});

test('a damaged segment fails its own search, and the end of the thread those that wait; the next one works', async () => {
  const searcher = new SegmentSearcher();
  await expect(searcher.find(Buffer.from('{"needle":'), wanted)).rejects.toThrow();
  const waiting = searcher.find(segmentOf('needle'), wanted);
  waiting.catch(() => {});
  await searcher[Symbol.asyncDispose]();
  await expect(waiting).rejects.toThrow('the search thread has ended');
  expect(indexesOf(await searcher.find(segmentOf('needle'), wanted))).toEqual([0]);
  await searcher[Symbol.asyncDispose]();
});
