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
import {
  bodyTimeoutMs,
  endStreamCheckMs,
  headersTimeoutMs,
  http2HeaderBytesMax,
  http2ResetsBurst,
  http2ResetsPerSecond,
  http2SessionMegabytesMax,
  http2SettingsMax,
  http2StreamsMax,
  http2WindowBytes,
  keepAliveTimeoutMs,
} from './limits.ts';

export interface Http2Handlers {
  onRequest: RequestListener;
  /** Answers a request whose headers are too large; `details` is a sentence for its sender. */
  rejectHeaders: (request: IncomingMessage, response: ServerResponse, details: string) => void;
  /** Answers CONNECT without reading its body: a tunnel's body has no end. */
  rejectConnect: (response: ServerResponse, details: string) => void;
}

/**
 * Serves the connections that it is given. Disposing sends GOAWAY to every client, also later ones, and waits
 * for open streams. At `stopping` connected clients get theirs; others may connect until the disposal.
 */
export function createHttp2(
  handlers: Http2Handlers,
  stopping: AbortSignal,
): { server: Http2Server } & AsyncDisposable {
  const server = createServer({
    settings: {
      maxConcurrentStreams: http2StreamsMax,
      maxHeaderListSize: http2HeaderBytesMax,
      enablePush: false,
    },
    maxSessionMemory: http2SessionMegabytesMax,
    streamResetBurst: http2ResetsBurst,
    streamResetRate: http2ResetsPerSecond,
  });
  const closeSessions = followSessions(server, stopping);
  const rejectHeaders: RequestListener = (request, response) =>
    handlers.rejectHeaders(request, response, `The headers are larger than ${http2HeaderBytesMax} bytes.`);
  const listen = (event: string, answer: RequestListener) => {
    server.on(event, (request: Http2ServerRequest, response: Http2ServerResponse) => {
      limitStream(request.stream);
      const handle = headerBytes(request.rawHeaders) > http2HeaderBytesMax ? rejectHeaders : answer;
      // Node's compatibility API gives requests and responses the interface of HTTP/1.1.
      handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
  };
  // Without listeners Node answers CONNECT and an unknown Expect by itself, without a body.
  listen('request', handlers.onRequest);
  listen('checkExpectation', handlers.onRequest);
  listen('connect', (_, response) =>
    handlers.rejectConnect(response, 'CONNECT is not supported: this is not a proxy.'),
  );
  return { server, [Symbol.asyncDispose]: closeSessions };
}

/** @returns what closes all sessions, also later ones, and waits for those that are open. */
function followSessions(server: Http2Server, stopping: AbortSignal): () => Promise<void> {
  const sessions = new Set<ServerHttp2Session>();
  let isClosing = false;
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    limitSession(session);
    if (isClosing) session.close();
  });
  const closeSessions = () => {
    for (const session of sessions) session.close();
  };
  stopping.addEventListener('abort', closeSessions, { once: true });
  // Without a listener a session's error would end the process; `close` follows it.
  server.on('sessionError', () => {});
  return async () => {
    isClosing = true;
    const closed = [...sessions].map((session) => once(session, 'close'));
    closeSessions();
    await Promise.all(closed);
  };
}

/** Node has no time-out for a client without a stream or for an idle session, and no limit for SETTINGS. */
function limitSession(session: ServerHttp2Session): void {
  const silence = setTimeout(() => session.destroy(), headersTimeoutMs);
  session.once('stream', () => clearTimeout(silence));
  session.once('close', () => clearTimeout(silence));
  session.setTimeout(keepAliveTimeoutMs, () => session.close());
  let settings = 0;
  session.on('remoteSettings', () => {
    settings += 1;
    // A SETTINGS frame of a few bytes costs the server an acknowledgement and a callback: a flood is cheap.
    if (settings > http2SettingsMax) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  // The connection's window is larger than a stream's: several streams send bodies at once.
  session.setLocalWindowSize(http2WindowBytes * 4);
}

/** RFC 9113 §6.5.2. Node announces the limit but does not enforce it. */
function headerBytes(rawHeaders: readonly string[]): number {
  let bytes = rawHeaders.length * 16;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}

/**
 * Resets a stream whose body does not arrive, or whose client does not read: Node has no time-outs for it.
 */
function limitStream(stream: ServerHttp2Stream): void {
  const check = setInterval(() => {
    if (!stream.readableEnded || stream.writableEnded) stream.close(constants.NGHTTP2_CANCEL);
  }, bodyTimeoutMs);
  stream.once('end', () => check.refresh());
  stream.once('finish', () => stopUnreadBody(stream));
  stream.once('close', () => clearInterval(check));
  stream.on('error', () => {});
}

/**
 * Asks the client to stop sending an answered request. RST_STREAM(NO_ERROR) may only follow a complete
 * response (RFC 9113 §8.1), and would replace the END_STREAM that is sent after `finish`. Node has no event
 * for that, so nghttp2's stream state is polled.
 */
function stopUnreadBody(stream: ServerHttp2Stream): void {
  if (stream.closed || stream.destroyed) return;
  const { localClose, remoteClose } = stream.state;
  // The client has sent its END_STREAM: the stream closes by itself.
  if (remoteClose === 1) return;
  if (localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
  else setTimeout(stopUnreadBody, endStreamCheckMs, stream);
}
