import { createServer as createNetServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Certificate } from './certificate.ts';
import { headersTimeoutMs } from './limits.ts';

/** The server of each protocol. Both take a connection as an event of this name. */
export interface ProtocolServers {
  http1: { emit(event: 'connection', socket: Socket): boolean };
  http2: { emit(event: 'connection', socket: Socket): boolean };
}

/**
 * A TCP server for both protocols on one port. With TLS the handshake negotiates the protocol (ALPN); in
 * clear text the first bytes tell.
 * @param draining aborted when the servers begin to drain: later connections are closed.
 * @param certificate without it connections are clear text.
 */
export function createProtocolListener(
  servers: ProtocolServers,
  draining: AbortSignal,
  certificate?: Certificate,
): Server {
  // Nagle's algorithm would delay an answer by 40 ms.
  const options = { noDelay: true };
  if (certificate === undefined) {
    const server = createNetServer(options, (socket) => detectProtocol(socket, handOver));
    const handOver = createHandOver(draining, servers);
    return server;
  }
  const server = createTlsServer({
    ...options,
    ...certificate.initial,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: headersTimeoutMs,
  });
  certificate.onRenewal((pair) => server.setSecureContext(pair));
  const handOver = createHandOver(draining, servers);
  server.on('secureConnection', (socket) => {
    handOver(socket, socket.alpnProtocol === 'h2' ? 'http2' : 'http1');
  });
  // The client does not use TLS, or no accepted version: it cannot be answered.
  server.on('tlsClientError', (_, socket) => socket.destroy());
  return server;
}

type HandOver = (socket: Socket, protocol: keyof ProtocolServers) => void;

/** Closes new connections while the servers drain: a new request might get no answer. */
function createHandOver(draining: AbortSignal, servers: ProtocolServers): HandOver {
  return (socket, protocol) => {
    if (draining.aborted) socket.destroy();
    else servers[protocol].emit('connection', socket);
  };
}

/** RFC 9113 §3.4. No method of HTTP/1.1 begins with these bytes. */
const preface = Buffer.from('PRI ');

function detectProtocol(socket: Socket, handOver: HandOver): void {
  // No server's time-outs apply yet to a socket that sends nothing.
  const silence = setTimeout(() => socket.destroy(), headersTimeoutMs);
  let head: Buffer = Buffer.alloc(0);
  const settle = () => {
    clearTimeout(silence);
    socket.off('data', onData).off('close', settle);
  };
  const onData = (chunk: Buffer) => {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const known = Math.min(head.length, preface.length);
    const mayBeHttp2 = head.compare(preface, 0, known, 0, known) === 0;
    if (mayBeHttp2 && known < preface.length) return;
    settle();
    socket.pause();
    socket.unshift(head);
    handOver(socket, mayBeHttp2 ? 'http2' : 'http1');
    // The HTTP/2 session reads what a paused socket has buffered; the HTTP/1.1 parser needs it to flow.
    if (!mayBeHttp2) socket.resume();
  };
  socket.on('data', onData).once('close', settle);
  // Without a listener a connection reset would end the process; `close` follows it.
  socket.on('error', () => {});
}
