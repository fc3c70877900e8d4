import type { IncomingMessage } from 'node:http';
import { constants, Http2ServerRequest, type Http2Session } from 'node:http2';
import type { Socket } from 'node:net';

type Connection = Socket | Http2Session;

/** Share of a server's connections beyond which their holders lose some: new ones are still accepted. */
const fullRatio = 0.9;

/**
 * Counts connections by who made the last request on each. When a server is nearly full, the holder of the
 * most loses the connection that was not used for longest: a few clients cannot keep others out.
 */
export class ConnectionShares {
  readonly #countMax: number;
  readonly #holders = new Map<Connection, string>();
  /** By holder, the least recently used first. */
  readonly #held = new Map<string, Set<Connection>>();

  /** @param connectionsMax what the server accepts. */
  constructor(connectionsMax: number) {
    this.#countMax = Math.floor(fullRatio * connectionsMax);
  }

  /** Notes that a request came on its connection. */
  note(request: IncomingMessage, holder: string): void {
    const connection = connectionOf(request);
    if (connection === undefined || connection.destroyed) return;
    if (!this.#holders.has(connection)) connection.once('close', () => this.#forget(connection));
    this.#forget(connection);
    this.#holders.set(connection, holder);
    this.#held.set(holder, (this.#held.get(holder) ?? new Set()).add(connection));
    if (this.#holders.size > this.#countMax) this.#closeOne();
  }

  #closeOne(): void {
    const most = this.#held.values().reduce((a, b) => (b.size > a.size ? b : a));
    const [oldest] = most;
    if (oldest === undefined) return;
    this.#forget(oldest);
    if ('settings' in oldest) oldest.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else oldest.destroy();
  }

  #forget(connection: Connection): void {
    const holder = this.#holders.get(connection);
    if (holder === undefined) return;
    this.#holders.delete(connection);
    const held = this.#held.get(holder);
    held?.delete(connection);
    if (held?.size === 0) this.#held.delete(holder);
  }
}

function connectionOf(request: IncomingMessage): Connection | undefined {
  // Over HTTP/2 it is Node's compatible request, whose socket is a proxy.
  const given: unknown = request;
  return given instanceof Http2ServerRequest ? given.stream.session : request.socket;
}
