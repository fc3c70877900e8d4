import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventIds, notes as notesTable } from '../../../store/db/schema.ts';
import { notesOfTargetMax } from '../../../store/notes/note.ts';
import type { NoteCondition } from '../../../store/read/compare/note-conditions.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { noteCallsPerMinuteMax } from '../limits.ts';

let dashboard: TestDashboard;
let space: TestSpace;
let ids: string[];
const traceId = randomUUID();
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
  ids = await addEvents(dashboard.sql, space.spaceId, [
    { threadId: 't1', text: '{"n":1}' },
    { threadId: 't2', traceId, text: '{"n":2}' },
    { threadId: 't2', text: '{"n":3}' },
    { text: '{"n":4}' },
  ]);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const add = (...notes: object[]) => space.client.trpc.notes.add.mutate({ notes: notes as never });
const listed = async (conditions: NoteCondition[]) => {
  const { events } = await space.client.trpc.events.list.query({ notes: conditions });
  return events.map(({ id }) => ids.indexOf(id)).toSorted();
};

test('a repeated call adds nothing, and the first note with an id is kept', async () => {
  const note = { id: randomUUID(), threadId: 'repeated', text: 'first' };
  expect(await add(note)).toEqual({ ids: [note.id] });
  expect(await add({ ...note, text: 'second' })).toEqual({ ids: [note.id] });
  const found = await space.client.trpc.notes.list.query({ on: [{ threadId: 'repeated' }] });
  expect(found).toMatchObject([{ id: note.id, text: 'first', label: null, value: null, author: 'user' }]);
});

test('lists are filtered by labels, values and scores of events, their traces and their threads', async () => {
  await add(
    { eventId: ids[0], label: 'quality', value: 0.4 },
    { traceId, label: 'quality', value: 0.9 },
    { threadId: 't2', label: 'thumbs-down', value: true },
    { eventId: ids[3], text: 'look at this' },
    // Of no stored event.
    { eventId: randomUUID(), label: 'quality', value: 0.1 },
  );
  expect(await listed([{}])).toEqual([0, 1, 2, 3]);
  expect(await listed([{ label: 'quality' }])).toEqual([0, 1]);
  expect(await listed([{ label: 'quality', operator: '<', score: 0.5 }])).toEqual([0]);
  expect(await listed([{ label: 'quality', value: '0.9' }])).toEqual([1]);
  expect(await listed([{ label: 'thumbs-down', value: 'true' }])).toEqual([1, 2]);
  expect(await listed([{ label: 'thumbs-down', operator: '>=', score: 1 }, { label: 'quality' }])).toEqual([
    1,
  ]);
  expect(await listed([{ label: 'quality', isExcluded: true }])).toEqual([2, 3]);
  expect(await listed([{ label: 'unknown' }])).toEqual([]);
  const threads = await space.client.trpc.threads.list.query({ notes: [{ label: 'quality' }] });
  expect(threads.items.map(({ id }) => id).toSorted()).toEqual(['t1', 't2']);
  const labels = await space.client.trpc.notes.labels.query({ prefix: 'Q' });
  expect(labels).toEqual([{ label: 'quality', notes: 3 }]);
  const range = { notes: [{ label: 'quality' }], from: 0, to: Date.now() + 60_000 };
  const { buckets } = await space.client.trpc.events.histogram.query(range);
  expect(buckets.reduce((sum, { events }) => sum + events, 0)).toBe(2);
});

test('a note that comes before its event is found when the event is there', async () => {
  const { events } = await space.client.trpc.events.list.query({ notes: [{ label: 'early' }] });
  expect(events).toEqual([]);
  await add({ threadId: 'later', label: 'early' });
  const [late] = await addEvents(dashboard.sql, space.spaceId, [{ threadId: 'later', text: '{}' }]);
  const after = await space.client.trpc.events.list.query({ notes: [{ label: 'early' }] });
  expect(after.events.map(({ id }) => id)).toEqual([late]);
});

test('authors change and remove their notes, admins those of others, viewers read', async () => {
  const member = await dashboard.addMember(space, 'member');
  const viewer = await dashboard.addMember(space, 'viewer');
  const { spaceId } = space;
  const { ids: own } = await member.client.trpc.notes.add.mutate({
    spaceId,
    notes: [{ threadId: 'roles', label: 'a' }],
  });
  const [id = ''] = own;
  const { ids: others } = await add({ threadId: 'roles', label: 'b' });
  await member.client.trpc.notes.change.mutate({ spaceId, id, label: 'c', value: 2 });
  const read = (client: typeof viewer.client) =>
    client.trpc.notes.list.query({ spaceId, on: [{ threadId: 'roles' }] });
  expect(await read(member.client)).toMatchObject([{ label: 'c', value: 2, authorName: member.email }, {}]);
  expect((await read(viewer.client)).map(({ authorName }) => authorName)).toEqual([null, null]);
  const notFound = { data: { code: 'NOT_FOUND' } };
  const change = { spaceId, id: others[0] ?? '', text: 'mine' };
  await expect(member.client.trpc.notes.change.mutate(change)).rejects.toMatchObject(notFound);
  await expect(member.client.trpc.notes.remove.mutate(change)).rejects.toMatchObject(notFound);
  const forbidden = { data: { code: 'FORBIDDEN' } };
  const notes = [{ threadId: 'roles', label: 'x' }];
  await expect(viewer.client.trpc.notes.add.mutate({ spaceId, notes })).rejects.toMatchObject(forbidden);
  await space.client.trpc.notes.remove.mutate({ id });
  expect((await read(member.client)).map(({ label }) => label)).toEqual(['b']);
  const { rows } = await space.client.trpc.audit.list.query({ limit: 20 });
  const actions = rows.filter(({ target }) => target === id).map(({ action }) => action);
  expect(actions).toEqual(['note.remove', 'note.change', 'note.add']);
});

test('what cannot be a note is refused with its reason', async () => {
  const eventId = randomUUID();
  const refused = async (note: object) => add(note).catch((error: Error) => error.message);
  expect(await refused({ label: 'a' })).toMatch('must name one of eventId, traceId and threadId');
  expect(await refused({ eventId, threadId: 't', label: 'a' })).toMatch('must name one of');
  expect(await refused({ eventId })).toMatch('a note needs a label or a text');
  expect(await refused({ eventId, text: 'a', value: 1 })).toMatch('label: must be given with value');
  expect(await refused({ eventId, text: 'x'.repeat(4_001) })).toMatch('notes.0.text: ');
  expect(await refused({ eventId, label: 'a\nb' })).toMatch('must not have control characters');
});

test('a target has a bounded number of notes, and an erased event none', async () => {
  const many = Array.from({ length: notesOfTargetMax - 1 }, () => ({ threadId: 'full', label: 'a' }));
  await add(...many);
  const conflict = {
    data: { code: 'CONFLICT' },
    message: expect.stringMatching(/^1 of 2 notes were not added/),
  };
  await expect(add({ threadId: 'full', label: 'b' }, { threadId: 'full', label: 'c' })).rejects.toMatchObject(
    conflict,
  );
  const gone = randomUUID();
  await dashboard.database.insert(eventIds).values({ spaceId: space.spaceId, id: gone });
  await expect(add({ eventId: gone, label: 'a' }, { eventId: ids[0], text: 'b' })).rejects.toMatchObject(
    conflict,
  );
  expect(await dashboard.database.$count(notesTable)).toBeGreaterThan(notesOfTargetMax);
});

test('calls that add notes are bounded in a minute', async () => {
  const { client } = await dashboard.addSpace();
  const notes = [{ id: randomUUID(), threadId: 't', label: 'a' }];
  for (let left = noteCallsPerMinuteMax; left > 0; left -= 100)
    await Promise.all(
      Array.from({ length: Math.min(left, 100) }, () => client.trpc.notes.add.mutate({ notes })),
    );
  const late = client.trpc.notes.add.mutate({ notes });
  await expect(late).rejects.toMatchObject({ data: { code: 'TOO_MANY_REQUESTS' } });
});
