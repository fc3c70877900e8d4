import { once } from 'node:events';
import { Agent, createServer, type RequestListener, request } from 'node:http';
import { type ClientHttp2Session, connect, createServer as createHttp2 } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ConnectionShares } from './connection-shares.ts';

/** A server that notes the holder named in the path, and is nearly full from the fifth connection on. */
async function serve(create: (onRequest: RequestListener) => Server): Promise<string> {
  const shares = new ConnectionShares(5);
  const server = create((received, response) => {
    shares.note(received, received.url ?? '');
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Sends a request on a connection that stays open. @returns whether it is closed, and what sends the next
 * one.
 */
async function openHttp1(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const state = { isClosed: false };
  const send = async (holder: string) => {
    const sent = request(`${url}/${holder}`, { agent });
    sent.on('socket', (socket) => socket.once('close', () => Object.assign(state, { isClosed: true })));
    const [response] = await once(sent.end(), 'response');
    await once(response.resume(), 'end');
  };
  return { state, send };
}

test('of a server that is nearly full, who has most loses the connection that was unused for longest', async () => {
  const url = await serve(createServer);
  const [first, second, third] = [await openHttp1(url), await openHttp1(url), await openHttp1(url)];
  for (const { send } of [first, second, third, first]) await send('busy');
  const others = [await openHttp1(url), await openHttp1(url)];
  for (const [index, { send }] of others.entries()) await send(`other-${index}`);
  // A round trip on what remains: the server has closed the other by then.
  await first.send('busy');
  expect([first, second, third, ...others].map(({ state }) => state.isClosed)).toEqual([
    ...[false, true, false],
    ...[false, false],
  ]);
});

test('a session of HTTP/2 is one connection, however many requests it has', async () => {
  // Its requests are those of HTTP/1.1 by Node's types.
  const url = await serve((onRequest) => createHttp2(onRequest as never) as unknown as Server);
  const open = async (holder: string): Promise<ClientHttp2Session> => {
    const session = connect(url).on('error', () => {});
    onTestFinished(() => session.destroy());
    for (let times = 0; times < 10; times++)
      await once(session.request({ ':path': `/${holder}` }).resume(), 'end');
    return session;
  };
  const busy = [await open('busy'), await open('busy'), await open('busy')];
  const closed = once(busy[0] as ClientHttp2Session, 'close');
  const others = [await open('a'), await open('b')];
  await closed;
  expect([...busy.slice(1), ...others].map((session) => session.closed)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
