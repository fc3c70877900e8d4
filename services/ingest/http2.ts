import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { IngestError } from '../../lib/errors.ts';
import {
  bodyTimeoutMs,
  headersTimeoutMs,
  http2HeaderBytesMax,
  http2ResetsBurst,
  http2ResetsPerSecond,
  http2SessionMegabytesMax,
  http2SettingsMax,
  http2StreamsMax,
  http2WindowBytes,
  keepAliveTimeoutMs,
} from '../../lib/limits.ts';
import { sendError } from './respond.ts';

/**
 * HTTP/2 on the connections that it is given. Disposing it tells every client to go (GOAWAY), those that are still to
 * come too, and waits for the streams that were opened before.
 */
export function createHttp2(onRequest: RequestListener): { server: Http2Server } & AsyncDisposable {
  const server = createServer({
    settings: {
      maxConcurrentStreams: http2StreamsMax,
      maxHeaderListSize: http2HeaderBytesMax,
      initialWindowSize: http2WindowBytes,
      enablePush: false,
    },
    maxSessionMemory: http2SessionMegabytesMax,
    streamResetBurst: http2ResetsBurst,
    streamResetRate: http2ResetsPerSecond,
  });
  const sessions = new Set<ServerHttp2Session>();
  let closing = false;
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    limitSession(session);
    if (closing) session.close();
  });
  // Without a listener the error of a session would end the process; `close` follows it.
  server.on('sessionError', () => {});
  // Node answers a CONNECT and an unknown expectation itself, without a body, unless somebody listens.
  for (const event of ['request', 'connect', 'checkExpectation']) {
    server.on(event, (request: Http2ServerRequest, response: Http2ServerResponse) => {
      limitExchange(request.stream);
      const handle = headerBytes(request.rawHeaders) > http2HeaderBytesMax ? refuseHeaders : onRequest;
      // Node's compatibility API gives requests and responses the shape that they have over HTTP/1.1.
      handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
  }
  return {
    server,
    async [Symbol.asyncDispose]() {
      closing = true;
      const closed = [...sessions].map((session) => once(session, 'close'));
      for (const session of sessions) session.close();
      await Promise.all(closed);
    },
  };
}

/** Node has no time-outs of its own here: not for a client that never asks anything, and not for an idle one. */
function limitSession(session: ServerHttp2Session): void {
  const silence = setTimeout(() => session.destroy(), headersTimeoutMs);
  session.once('stream', () => clearTimeout(silence));
  session.once('close', () => clearTimeout(silence));
  session.setTimeout(keepAliveTimeoutMs, () => session.close());
  let settings = 0;
  session.on('remoteSettings', () => {
    settings += 1;
    // A frame of a few bytes costs us an acknowledgement and a call: it is the cheapest flood there is.
    if (settings > http2SettingsMax) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  // Of the connection as a whole: a client fills it with the bodies of several streams.
  session.setLocalWindowSize(http2WindowBytes * 4);
}

/**
 * Node has no time-outs for a stream either. One whose body does not arrive in time is closed without a status, and so
 * is one whose answer the client does not take: it need only keep its window shut.
 */
function limitExchange(stream: ServerHttp2Stream): void {
  const look = setInterval(() => {
    if (!stream.readableEnded || stream.writableEnded) stream.close(constants.NGHTTP2_CANCEL);
  }, bodyTimeoutMs);
  stream.once('end', () => look.refresh());
  // The answer is whole: what the client still sends of its request is not wanted.
  stream.once('finish', () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
  stream.once('close', () => clearInterval(look));
  stream.on('error', () => {});
}

/** The size of a list of headers as HTTP/2 counts it (RFC 9113 §6.5.2). Node announces the limit, and does not keep it. */
function headerBytes(rawHeaders: readonly string[]): number {
  let bytes = rawHeaders.length * 16;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}

function refuseHeaders(request: IncomingMessage, response: ServerResponse): void {
  const details = `The headers are larger than ${http2HeaderBytesMax} bytes.`;
  sendError(request, response, new IngestError('invalid_request_body', details)).catch(() =>
    request.destroy(),
  );
}
