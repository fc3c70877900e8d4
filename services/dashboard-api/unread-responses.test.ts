import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { until } from '../../test/support/wait.ts';
import { noteSender } from './request-log.ts';
import { UnreadResponses } from './unread-responses.ts';

const responseBytes = 1024 * 1024;

test('over HTTP/2 the sender with the most unread bytes loses its responses, and others keep theirs', async () => {
  const entries: string[] = [];
  const asked: ServerResponse[] = [];
  using unread = new UnreadResponses(
    pino({}, { write: (line: string) => void entries.push(line) }),
    8 * responseBytes,
  );
  const server = createHttp2((given, answer) => {
    // As platform/http/http2.ts hands them over.
    const [request, response] = [given as unknown as IncomingMessage, answer as unknown as ServerResponse];
    const userId = String(request.headers['x-user']);
    noteSender(response, { address: '127.0.0.1', userId });
    unread.add(request, response);
    // All streams are open before the first response: Node refuses new ones while a connection holds much.
    asked.push(response);
    if (asked.length === 23) for (const one of asked) one.end(Buffer.alloc(responseBytes, 'x'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Windows of zero: nothing of a body is read.
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    settings: { initialWindowSize: 0 },
  });
  const ended: string[] = [];
  const ask = (user: string) => {
    const stream = session.request({ ':path': '/', 'x-user': user });
    stream.on('error', () => {});
    stream.once('close', () => ended.push(user));
  };
  for (let n = 0; n < 20; n++) ask('many');
  for (let n = 0; n < 3; n++) ask('few');
  await until(() => ended.length >= 20);
  expect(new Set(ended)).toEqual(new Set(['many']));
  expect(entries.join('')).toContain('"userId":"many"');
  session.destroy();
  server.close();
});

test('over HTTP/1.1 too', async () => {
  using unread = new UnreadResponses(pino({ level: 'silent' }), 8 * responseBytes);
  const server = createServer((request, response) => {
    unread.add(request, response);
    response.end(Buffer.alloc(64 * responseBytes, 'x'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  const accepted = once(server, 'connection');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [connection] = await accepted;
  await once(connection, 'close');
  socket.destroy();
  server.close();
});
