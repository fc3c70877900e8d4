import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPostgres } from '../../store/db/connect.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { loseCommitReply } from './lost-commit-reply.ts';
import { resetSocket, TcpProxy } from './tcp-proxy.ts';

let stack: AsyncDisposableStack;
let proxy: TcpProxy;
/** The bytes that the server behind the proxy has received. */
let received: Buffer;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  received = Buffer.alloc(0);
  // An echo server.
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  proxy = stack.use(await TcpProxy.open(address.port));
});
afterEach(() => stack.disposeAsync());

/** A connection through the proxy, the bytes it received, and how it ended. */
function openClient() {
  const socket = connect(proxy.port, '127.0.0.1');
  const client = { socket, received: Buffer.alloc(0), end: '' };
  socket.on('data', (bytes: Buffer) => {
    client.received = Buffer.concat([client.received, bytes]);
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    client.end = error.code ?? 'error';
  });
  socket.on('close', () => {
    client.end ||= 'closed';
  });
  stack.defer(() => void socket.destroy());
  return client;
}

test('all bytes are forwarded in both directions, in order', async () => {
  const client = openClient();
  const bytes = crypto.getRandomValues(Buffer.alloc(65_536));
  for (let times = 0; times < 50; times++) client.socket.write(bytes);
  await until(() => client.received.length === 50 * bytes.length);
  expect(client.received.equals(Buffer.concat(Array(50).fill(bytes)))).toBe(true);
});

test('a cut resets open connections and rejects new ones until heal, on the same port', async () => {
  const client = openClient();
  client.socket.write('a');
  await until(() => client.received.length === 1);
  await proxy.cut();
  await until(() => client.end === 'ECONNRESET');
  const refused = openClient();
  await until(() => refused.end === 'ECONNREFUSED');
  await proxy.heal();
  const again = openClient();
  again.socket.write('b');
  await until(() => again.received.toString() === 'b');
});

test('a black hole accepts everything and forwards nothing until heal, and loses nothing', async () => {
  const before = openClient();
  before.socket.write('a');
  await until(() => before.received.length === 1);
  proxy.blackhole();
  const during = openClient();
  during.socket.write('b');
  before.socket.write('c');
  await until(() => proxy.connections === 2 && during.socket.bytesWritten === 1);
  expect(received.toString()).toBe('a');
  await proxy.heal();
  await until(() => before.received.toString() === 'ac' && during.received.toString() === 'b');
});

test('latency and limited bandwidth delay the bytes', async () => {
  const client = openClient();
  const timeRoundTrip = async (bytes: Buffer) => {
    const startedMs = performance.now();
    const wanted = client.received.length + bytes.length;
    client.socket.write(bytes);
    await until(() => client.received.length === wanted);
    return performance.now() - startedMs;
  };
  proxy.delay(150);
  // A timer may fire a millisecond early.
  expect(await timeRoundTrip(Buffer.alloc(1))).toBeGreaterThan(295);
  await proxy.heal();
  proxy.trickle(10_000);
  expect(await timeRoundTrip(Buffer.alloc(5_000))).toBeGreaterThan(450);
});

test('a mid-frame reset delivers half of the frame and then resets the connection', async () => {
  const client = openClient();
  client.socket.write('ab');
  await until(() => client.received.length === 2);
  proxy.resetMidFrame();
  client.socket.write('cdefgh');
  await until(() => client.end !== '');
  expect(received.toString()).toBe('abcde');
});

test('an abandoned connection carries no more bytes and stays open, and a new one works', async () => {
  const client = openClient();
  client.socket.write('a');
  await until(() => client.received.length === 1);
  proxy.abandon();
  client.socket.write('b');
  const next = openClient();
  next.socket.write('c');
  await until(() => next.received.toString() === 'c');
  expect([received.toString(), client.end]).toEqual(['ac', '']);
});

test('a statement whose reply is lost is committed, and its connection is reset', async () => {
  const database = stack.use(await createDatabase());
  const direct = new URL(database.url);
  const proxied = stack.use(await TcpProxy.open(Number(direct.port)));
  const through = new URL(database.url);
  through.port = String(proxied.port);
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  await using sql = openPostgres(through.href, options);
  await using observer = openPostgres(database.url, options);
  const lost = loseCommitReply(proxied, (tag) => tag.startsWith('INSERT'));
  await sql`SELECT 1`;
  await expect(sql`INSERT INTO users (email, password_hash) VALUES ('a@example.org', '-')`).rejects.toThrow(
    /CONNECTION|ECONNRESET/,
  );
  await lost;
  expect(await observer`SELECT email FROM users`).toEqual([{ email: 'a@example.org' }]);
  expect(await sql`SELECT email FROM users`).toHaveLength(1);
});

test('a socket is closed in any state: one that connects, works, shuts down, or is closed', async () => {
  const open = () =>
    connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  const connecting = open();
  resetSocket(connecting);
  const working = open();
  await once(working, 'connect');
  resetSocket(working);
  const shuttingDown = open();
  await once(shuttingDown, 'connect');
  shuttingDown.end();
  resetSocket(shuttingDown);
  for (const socket of [connecting, working, shuttingDown]) {
    if (!socket.closed) await once(socket, 'close');
    resetSocket(socket);
  }
});
