import { expect, test } from 'vitest';
import { z } from 'zod';
import { altered } from '../../../harness/fixtures/altered.ts';
import { openSeal } from '../seal.ts';
import { openSealedState } from './sealed-state.ts';

test('a state is opened in its context until it expires', () => {
  let now = 1_000;
  const seal = openSeal('pepper-of-the-tests-only', 'test');
  const states = openSealedState(seal, { shape: z.object({ a: z.number() }), ttlMs: 500, now: () => now });
  const sealed = states.seal({ a: 1 }, 'session');
  expect(sealed).toMatch(/^[\w-]+$/);
  expect(states.open(sealed, 'session')).toEqual({ a: 1 });
  expect(states.open(sealed, 'another')).toBeUndefined();
  expect(states.open(altered(sealed), 'session')).toBeUndefined();
  expect(states.open('', 'session')).toBeUndefined();
  now = 1_499;
  expect(states.open(sealed, 'session')).toEqual({ a: 1 });
  now = 1_500;
  expect(states.open(sealed, 'session')).toBeUndefined();
});
