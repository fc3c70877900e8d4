import { createServer as createNetServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { headersTimeoutMs } from '../../lib/limits.ts';
import type { Certificate } from './certificate.ts';

/** Who serves the connections of each protocol. Both take a connection as an event of this name. */
export interface ProtocolServers {
  http1: { emit(event: 'connection', socket: Socket): boolean };
  http2: { emit(event: 'connection', socket: Socket): boolean };
}

/**
 * Listens for connections and hands each to the server of its protocol, so that one port serves all: with TLS the
 * handshake has agreed on the protocol (ALPN), in clear text the first bytes tell.
 *
 * @param certificate without it connections are clear text.
 */
export function openFrontDoor(servers: ProtocolServers, certificate?: Certificate): Server {
  // Nagle would hold back an answer for 40 ms.
  const options = { noDelay: true };
  if (certificate === undefined) {
    const server = createNetServer(options, (socket) => recognise(socket, handOver));
    const handOver = createHandOver(server, servers);
    return server;
  }
  const server = createTlsServer({
    ...options,
    ...certificate.current,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: headersTimeoutMs,
  });
  certificate.follow((pair) => server.setSecureContext(pair));
  const handOver = createHandOver(server, servers);
  server.on('secureConnection', (socket) => {
    handOver(socket, socket.alpnProtocol === 'h2' ? 'http2' : 'http1');
  });
  // A client that speaks no TLS, or none that we accept, has been cut off; there is nothing to answer it with.
  server.on('tlsClientError', (_, socket) => socket.destroy());
  return server;
}

type HandOver = (socket: Socket, protocol: keyof ProtocolServers) => void;

/** Once the door is closed its servers wait for nobody new: a request that is taken then would go without its answer. */
function createHandOver(door: Server, servers: ProtocolServers): HandOver {
  return (socket, protocol) => {
    if (door.listening) servers[protocol].emit('connection', socket);
    else socket.destroy();
  };
}

/** The first bytes of every HTTP/2 connection (RFC 9113 §3.4). No method of HTTP/1.1 begins so. */
const preface = Buffer.from('PRI ');

function recognise(socket: Socket, handOver: HandOver): void {
  // A socket that sends nothing is nobody's yet: no other time-out runs for it.
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
    // The HTTP/2 session takes what was read from the paused socket; the HTTP/1.1 parser waits for it to flow.
    if (!mayBeHttp2) socket.resume();
  };
  socket.on('data', onData).once('close', settle);
  // Without a listener the reset of a connection would end the process; `close` follows it.
  socket.on('error', () => {});
}
