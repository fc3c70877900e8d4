import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import {
  bodyTimeoutMs,
  headersTimeoutMs,
  http2HeaderBytesMax,
  http2ResetsBurst,
  http2ResetsPerSecond,
  http2SessionMegabytesMax,
  http2StreamsMax,
  http2WindowBytes,
  keepAliveTimeoutMs,
} from '../../lib/limits.ts';

/**
 * HTTP/2 on the connections that it is given. Disposing it tells every client to go (GOAWAY), and waits for the streams
 * that were opened before.
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
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    limitSession(session);
  });
  // Without a listener the error of a session would end the process; `close` follows it.
  server.on('sessionError', () => {});
  server.on('request', (request, response) => {
    limitBody(request);
    // Node's compatibility API gives requests and responses the shape that they have over HTTP/1.1.
    onRequest(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
  return {
    server,
    async [Symbol.asyncDispose]() {
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
  // Of the connection as a whole: a client fills it with the bodies of several streams.
  session.setLocalWindowSize(http2WindowBytes * 4);
}

/** A body that does not arrive in time: its stream is closed without a status. */
function limitBody({ stream }: { stream: ServerHttp2Stream }): void {
  const late = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), bodyTimeoutMs);
  const settle = () => clearTimeout(late);
  stream.once('end', settle).once('close', settle);
  stream.on('error', () => {});
}
