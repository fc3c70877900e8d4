import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { encodePart, type Part } from '../../platform/queue/group.ts';
import { requireWellFormed } from '../../store/write/well-formed.ts';
import type { Subject } from './subject.ts';
import { readPart, wipePart } from './wiped-part.ts';

const spaceId = '01900000-0000-7000-8000-000000000000';
const eventOf = (userId: string, startTimeMs = 1) =>
  llmEvent({ startTimeMs, context: { userId, threadId: 'a "thread"' } });
const wipe = (part: Part, subject: Subject) => {
  const wiped = wipePart(part, subject);
  if (wiped === undefined) throw new Error('the part has no event of the subject');
  return wiped;
};

test('the events of one user are removed from a batch; the others stay unchanged and replayable', () => {
  const [a, gone, b] = [eventOf('a'), eventOf('go"ne'), eventOf('b')];
  const { part, erasedIds } = wipe(partOf(spaceId, [a, gone, b]), { kind: 'user', value: 'go"ne' });
  expect(erasedIds).toEqual([gone.id]);
  if (part === undefined) throw new Error('no part is left');
  requireWellFormed(part);
  expect(part).toMatchObject({
    eventCount: 2,
    terms: '',
    columns: { id: `${a.id},${b.id}`, segmentIndex: '0,2' },
  });
  const raw = zstdDecompressSync(part.body).toString();
  expect(raw).toBe(`{"events":[${JSON.stringify(a)},0,${JSON.stringify(b)}]}`);
  expect(part.rawBytes).toBe(BigInt(raw.length));
});

test('a batch of a single user, or of events before the given time, is removed entirely', () => {
  const sent = [eventOf('gone'), eventOf('gone', 5)];
  const ids = sent.map(({ id }) => id);
  const part = partOf(spaceId, sent);
  expect(wipe(part, { kind: 'user', value: 'gone' })).toEqual({ part: undefined, erasedIds: ids });
  expect(wipe(part, { kind: 'thread', value: 'a "thread"' }).erasedIds).toEqual(ids);
  expect(wipe(part, { kind: 'before', timeMs: 5 })).toMatchObject({
    part: { eventCount: 1 },
    erasedIds: [ids[0]],
  });
});

test('a batch without events of the subject is unchanged; bytes that are not a batch are not decoded', () => {
  const part = partOf(spaceId, [eventOf('a')]);
  expect(wipePart(part, { kind: 'user', value: 'gone' })).toBeUndefined();
  expect(readPart(encodePart(part))?.columns).toEqual(part.columns);
  expect(readPart(Buffer.from('secret'))).toBeUndefined();
});

test('a damaged segment loses its texts when an event is erased', () => {
  const part = Object.assign(partOf(spaceId, [eventOf('a'), eventOf('gone')]), { body: Buffer.from('gone') });
  const { part: left } = wipe(part, { kind: 'user', value: 'gone' });
  expect(zstdDecompressSync(left?.body ?? Buffer.alloc(0)).toString()).toBe('{"events":[]}');
});
