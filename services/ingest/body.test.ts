import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { bodyBytesMax, discardBytesMax, longDiscardsMax } from '../../lib/limits.ts';
import { discardBody } from './body.ts';

/** A request with so many bytes of its body here, and more to come. */
function requestWith(bytes: number): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.push(Buffer.alloc(bytes));
  return request;
}

test('so many bodies are read past the size of a legal one, and a further one only to there', async () => {
  const long = Array.from({ length: longDiscardsMax }, () => requestWith(bodyBytesMax + 1));
  const discarded = long.map(discardBody);
  expect(await discardBody(requestWith(bodyBytesMax + 1))).toBe(false);

  const legal = requestWith(bodyBytesMax);
  legal.push(null);
  expect(await discardBody(legal)).toBe(true);

  for (const request of long) request.push(null);
  expect(await Promise.all(discarded)).toEqual(long.map(() => true));
  const next = requestWith(bodyBytesMax + 1);
  next.push(null);
  expect(await discardBody(next)).toBe(true);
});

test('a body without end is given up', async () => {
  expect(await discardBody(requestWith(discardBytesMax + 1))).toBe(false);
});

test('so is the body of a client that went away, and its place is free again', async () => {
  for (let times = 0; times <= longDiscardsMax; times++) {
    const request = requestWith(bodyBytesMax + 1);
    const discarded = discardBody(request);
    setImmediate(() => request.destroy());
    expect(await discarded).toBe(false);
  }
});
