import { once } from 'node:events';
import { createServer as createHttp1, type IncomingMessage, request as requestHttp1 } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttp2 } from '../../../platform/http/http2.ts';
import { http2WindowBytes } from '../../../platform/http/limits.ts';
import { until } from '../../../test/support/wait.ts';
import { Unauthenticated } from './unauthenticated.ts';

/** Servers of both protocols. The key `good` is found at once, `late` on request, any other is refused. */
async function serve(countMax: number) {
  const unauthenticated = new Unauthenticated(countMax);
  const late = Promise.withResolvers<object>();
  const authenticate = (request: IncomingMessage) => {
    if (request.headers.authorization === 'late') return late.promise;
    if (request.headers.authorization === 'good') return {};
    throw new Error('unknown key');
  };
  const onRequest: Parameters<typeof createHttp1>[1] & object = async (request, response) => {
    try {
      await unauthenticated.admit(request, () => authenticate(request));
      response.end();
    } catch {
      response.writeHead(401).end();
    }
  };
  const fail = () => expect.unreachable();
  const http2 = createHttp2(
    { onRequest, rejectHeaders: fail, rejectConnect: fail },
    new AbortController().signal,
  );
  http2.server.on('session', (session) => unauthenticated.addSession(session));
  const [port2, port1] = [await listen(http2.server), await listen(createHttp1(onRequest))];
  const openSession = async () => {
    const session = connect(`http://127.0.0.1:${port2}`).on('error', () => {});
    onTestFinished(() => session.destroy());
    await once(session, 'remoteSettings');
    return session;
  };
  return { unauthenticated, late, openSession, port1 };
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Begins a request, whose body does not end. */
function begin(session: ClientHttp2Session, key: string) {
  const stream = session.request({ ':method': 'POST', authorization: key }, { endStream: false });
  return stream.on('error', () => {});
}

test('a session counts until one of its requests has a valid key, and then gets the whole window', async () => {
  const { unauthenticated, openSession } = await serve(10);
  const session = await openSession();
  expect(unauthenticated.count).toBe(1);
  expect(session.remoteSettings.initialWindowSize).toBe(65_535);
  await once(begin(session, 'bad'), 'response');
  // The session, and its request until its body has ended.
  expect(unauthenticated.count).toBe(2);
  const widened = once(session, 'remoteSettings');
  await once(begin(session, 'good'), 'response');
  await widened;
  expect(session.remoteSettings.initialWindowSize).toBe(http2WindowBytes);
  session.close();
  await until(() => unauthenticated.count === 0);
});

test('a session without a valid key is closed when there are too many, and one that had a key stays', async () => {
  const { openSession } = await serve(3);
  const good = await openSession();
  await once(begin(good, 'good'), 'response');
  const first = await openSession();
  const others = [await openSession(), await openSession()];
  expect(first.closed).toBe(false);
  const closed = once(first, 'close');
  others.push(await openSession());
  await closed;
  expect([good, ...others].map((session) => session.closed)).toEqual([false, false, false, false]);
  await once(begin(good, 'good'), 'response');
});

test('streams whose keys are not known yet count, and the session of too many is closed', async () => {
  const { unauthenticated, openSession } = await serve(5);
  const session = await openSession();
  const closed = once(session, 'close');
  for (let stream = 0; stream < 5; stream++) begin(session, 'late');
  await closed;
  await until(() => unauthenticated.count === 0);
});

test('a request whose key is found late counts until then', async () => {
  const { unauthenticated, late, openSession } = await serve(5);
  const session = await openSession();
  const answered = once(begin(session, 'late'), 'response');
  await until(() => unauthenticated.count === 2);
  late.resolve({});
  await answered;
  expect(unauthenticated.count).toBe(0);
});

test('over HTTP/1.1 the connection of the oldest request without a valid key is closed', async () => {
  const { unauthenticated, port1 } = await serve(2);
  const post = (authorization: string) => {
    const request = requestHttp1({
      host: '127.0.0.1',
      port: port1,
      method: 'POST',
      headers: { authorization },
    });
    request.on('error', () => {}).write(' ');
    onTestFinished(() => void request.destroy());
    return request;
  };
  await once(post('good'), 'response');
  expect(unauthenticated.count).toBe(0);
  const closed = new Promise((resolve) => post('late').once('close', resolve));
  await until(() => unauthenticated.count === 1);
  post('late');
  await until(() => unauthenticated.count === 2);
  post('late');
  await closed;
  expect(unauthenticated.count).toBe(2);
});
