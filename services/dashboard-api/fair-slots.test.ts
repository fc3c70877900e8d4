import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { FairSlots } from './fair-slots.ts';

/** A response that can be reset. */
function openResponse() {
  let isReset = false;
  const destroy = () => {
    isReset = true;
  };
  // Only this member is used.
  return { isReset: () => isReset, response: { destroy } as unknown as ServerResponse };
}

const limits = { slotsMax: 6, ofHolderMax: 4, ofSpaceMax: 4, noun: 'open streams' };

/** Takes places in turn. @returns for each whether it was given, and its response. */
function takeAll(slots: FairSlots, holders: readonly string[]) {
  return holders.map((holderId, at) => {
    const { response, isReset } = openResponse();
    return { holderId, isReset, slot: slots.take({ holderId, spaceId: `space ${at}` }, response) };
  });
}

test('a newcomer gets a place of the person who has the most, until the shares are equal', () => {
  const slots = new FairSlots(limits);
  const taken = takeAll(slots, ['a', 'a', 'a', 'a', 'b', 'b']);
  const resetOf = () => taken.filter(({ isReset }) => isReset()).map(({ holderId }) => holderId);
  takeAll(slots, ['c']);
  expect(resetOf()).toEqual(['a']);
  takeAll(slots, ['c']);
  expect(resetOf()).toEqual(['a', 'a']);
  // The oldest stay.
  expect(taken.slice(0, 2).map(({ isReset }) => isReset())).toEqual([false, false]);
  // Two each: who has as many as the others waits.
  expect(() => takeAll(slots, ['c'])).toThrow('The server has 6 open streams');
  const [newcomer] = takeAll(slots, ['d']);
  expect(newcomer?.isReset()).toBe(false);
});

test('a person and a space have bounds of their own, and what ends frees its place', () => {
  const slots = new FairSlots(limits);
  const taken = takeAll(slots, ['a', 'a', 'a', 'a']);
  expect(() => takeAll(slots, ['a'])).toThrow('You have 4 open streams');
  taken[0]?.slot[Symbol.dispose]();
  takeAll(slots, ['a']);
  const crowded = new FairSlots(limits);
  for (const holderId of ['a', 'b', 'c', 'd'])
    crowded.take({ holderId, spaceId: 'one' }, openResponse().response);
  expect(() => crowded.take({ holderId: 'e', spaceId: 'one' }, openResponse().response)).toThrow(
    'The space has 4 open streams',
  );
});
