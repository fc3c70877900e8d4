import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { IngestError } from '../../lib/errors.ts';
import { ClientGoneError } from './body.ts';
import { endWithError, sendJson } from './respond.ts';

/** The request that a connection brought last, and its answer. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Nothing that follows on the connection is to be believed: it may be the body that somebody else saw. */
  isRefused: boolean;
}

const exchanges = new WeakMap<Socket, Exchange>();

/** Connections whose parser has failed. */
const refused = new WeakSet<Socket>();

/** What a Host may consist of (RFC 3986, §3.2): a name or an address, and a port. */
const hostPattern = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** Options for the HTTP/1 server that `answerStrictly` is given: Node would answer a missing Host without a body. */
export const strictHttpOptions = { requireHostHeader: false };

/**
 * Makes an HTTP/1 server answer in the shape of contract §7 where Node answers bare or not at all. An Expect that is not known is ignored, as RFC 9110 §10.1.1 allows.
 */
export function answerStrictly(
  server: Server,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  // Node's own switch, which its types do not know, and the socket's. Without them a client that closes its side behind
  // its request gets no answer, though its batch is accepted.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket) => {
    socket.allowHalfOpen = true;
  });
  server.on('clientError', refuseUnparsable);
  server.on('checkExpectation', handle);
  server.on('connect', (_, socket: Socket) => {
    const error = new IngestError('method_not_allowed', 'This is no proxy: CONNECT is not taken.');
    endAfterAnswers(socket, error, { Allow: 'GET, POST' });
  });
}

/**
 * Refuses what Node's parser accepts though RFC 9112 tells to refuse it: a proxy before us could see another request
 * in the same bytes. The connection is closed after the answer.
 *
 * @throws IngestError `invalid_request_body`
 * @throws ClientGoneError for whatever follows such a request on its connection.
 */
export function checkHttp(request: IncomingMessage, response: ServerResponse): void {
  // HTTP/2 frames its requests, and knows none of this.
  if (!(request instanceof IncomingMessage)) return;
  const { socket } = request;
  if (exchanges.get(socket)?.isRefused) throw new ClientGoneError('a refused request came before this one');
  const fault = findFault(request);
  exchanges.set(socket, { request, response, isRefused: fault !== undefined });
  if (fault === undefined) return;
  response.setHeader('Connection', 'close');
  throw new IngestError('invalid_request_body', `The request is not valid HTTP: ${fault}.`);
}

function findFault({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'its version is neither 1.1 nor 1.0';
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]];
    if (isName(name, 'host')) {
      hosts += 1;
      if (!hostPattern.test(value)) return 'its Host is malformed';
    } else if (isName(name, 'transfer-encoding')) {
      if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding';
      if (value.toLowerCase() !== 'chunked') return 'its Transfer-Encoding must be chunked, or absent';
    }
  }
  if (hosts > 1) return 'it has more than one Host';
  return hosts === 0 && httpVersion === '1.1' ? 'it has no Host' : undefined;
}

/** Most headers are told apart by their length: lower-casing each would cost more than all the rest. */
function isName(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}

/** Answers what the parser refused, and closes. A socket that was only slow or silent is closed without a word. */
function refuseUnparsable(error: NodeJS.ErrnoException, socket: Socket): void {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  // The parser refuses whatever follows, too: it is read and dropped.
  if (refused.has(socket)) return;
  if (isLate || error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refused.add(socket);
  endAfterAnswers(socket, new IngestError('invalid_request_body', 'The request is not valid HTTP.'));
}

/**
 * Sends the last answer of a connection. Whatever was asked before has its own answer first: a client takes the first
 * answer that it gets for the one to its first request, and would throw away what we accept.
 */
function endAfterAnswers(socket: Socket, error: IngestError, headers: Record<string, string> = {}): void {
  const last = exchanges.get(socket);
  if (last?.response.headersSent && !last.request.complete) {
    socket.destroy();
  } else if (last?.request.complete && !last.response.closed) {
    last.response.once('close', () => {
      if (socket.writable) endWithError(socket, error, headers);
    });
  } else if (last !== undefined && !last.response.closed && last.response.socket === null) {
    // It broke in the middle of a body, while others are answered. Its reader must be told that nothing follows.
    last.response.once('close', () => last.request.destroy());
    sendJson(last.response, error.status, error.toBody(), { ...headers, Connection: 'close' });
  } else {
    endWithError(socket, error, headers);
  }
}
