import type { IncomingMessage } from 'node:http';
import {
  constants,
  Http2ServerRequest,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { http2WindowBytes } from '../../../platform/http/limits.ts';
import { countShed } from '../metrics.ts';

/** What a client without a valid API key occupies. */
type Held = Http2Session | ServerHttp2Stream | IncomingMessage;

/**
 * Bounds the memory of clients that have not shown a valid API key: their sessions and streams of HTTP/2,
 * from the beginning, and their requests over HTTP/1.1, from the moment that the key is not found in the
 * cache. When there are too many, the oldest is closed.
 *
 * A session whose request has a valid key does not count any more, and gets the whole flow-control window:
 * until then the streams have that of the protocol, 64 KiB.
 */
export class Unauthenticated {
  readonly #countMax: number;
  /** In the order of their arrival. */
  readonly #held = new Set<Held>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get count(): number {
    return this.#held.size;
  }

  addSession(session: ServerHttp2Session): void {
    this.#hold(session);
    // A server calls its listener of requests before this one, which may have found the key in the cache.
    session.on('stream', (stream) => {
      if (this.#held.has(session)) this.#hold(stream);
    });
  }

  /** Authenticates a request, which counts until then. @returns and throws as `authenticate` does. */
  admit<T extends object>(request: IncomingMessage, authenticate: () => T | Promise<T>): T | Promise<T> {
    const held = heldOf(request);
    try {
      const found = authenticate();
      if (!(found instanceof Promise)) {
        this.#release(held);
        return found;
      }
      this.#hold(held);
      return found.then((principal) => {
        this.#release(held);
        return principal;
      });
    } catch (error) {
      this.#hold(held);
      throw error;
    }
  }

  #hold(held: Held): void {
    if (this.#held.has(held) || held.destroyed) return;
    this.#held.add(held);
    held.once('close', () => this.#held.delete(held));
    const [oldest] = this.#held;
    if (this.#held.size <= this.#countMax || oldest === undefined) return;
    this.#held.delete(oldest);
    countShed();
    shed(oldest);
  }

  #release(held: Held): void {
    this.#held.delete(held);
    const session = 'session' in held ? held.session : undefined;
    if (session === undefined || !this.#held.delete(session)) return;
    session.settings({ initialWindowSize: http2WindowBytes });
  }
}

function heldOf(request: IncomingMessage): Held {
  // Over HTTP/2 it is Node's compatible request.
  const given: unknown = request;
  return given instanceof Http2ServerRequest ? given.stream : request;
}

/** Closes a session with its streams, a stream, or the connection of a request. */
function shed(held: Held): void {
  if ('close' in held) {
    if ('settings' in held) held.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else held.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  } else held.destroy();
}
