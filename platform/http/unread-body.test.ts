import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { bodyBytesMax } from '../limits.ts';
import { longUnreadBodiesMax, unreadBodyBytesMax } from './limits.ts';
import { createAnswerAfterBody, createDiscardBody } from './unread-body.ts';

/** A request of which this many body bytes were received, and more are expected. */
function requestWith(bytes: number): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.push(Buffer.alloc(bytes));
  return request;
}

const ignore = () => {};

test('a bounded number of bodies is read past the largest legal size, the others only up to it', async () => {
  const discardBody = createDiscardBody(ignore);
  const long = Array.from({ length: longUnreadBodiesMax }, () => requestWith(bodyBytesMax + 1));
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

test('reading an endless body stops at the limit', async () => {
  expect(await createDiscardBody(ignore)(requestWith(unreadBodyBytesMax + 1))).toBe(false);
});

test('a client that closes its connection frees its slot', async () => {
  const discardBody = createDiscardBody(ignore);
  for (let times = 0; times <= longUnreadBodiesMax; times++) {
    const request = requestWith(bodyBytesMax + 1);
    const discarded = discardBody(request);
    setImmediate(() => request.destroy());
    expect(await discarded).toBe(false);
  }
});

test('nothing is written when the response has begun while the body was read', async () => {
  const request = requestWith(1);
  const response = new ServerResponse(request);
  const written: string[] = [];
  const answered = createAnswerAfterBody()(request, response, () => written.push('again'));
  response.writeHead(400);
  request.push(null);
  await answered;
  expect(written).toEqual([]);
});
