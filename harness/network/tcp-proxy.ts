import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type LinkConditions, startRelay } from './tcp-relay.ts';

/**
 * The network faults that a proxy can inject. As in TCP, bytes are lost only together with their connection.
 */
export interface ProxyControls {
  /** Resets every connection, and rejects new ones until `heal`. */
  cut(): Promise<void>;
  /** Accepts connections and their bytes, and forwards nothing until `heal`. */
  blackhole(): void;
  /** Adds latency to each direction. */
  delay(latencyMs: number): void;
  /** Limits the bandwidth of each direction of each connection. */
  trickle(bytesPerSecond: number): void;
  /** Resets each current connection in the middle of its client's next chunk of at least two bytes. */
  resetMidFrame(): void;
  /** Resets the current connections. */
  reset(): void;
  /**
   * The current connections never carry a byte again and are not closed, as when the other machine has lost
   * power.
   */
  abandon(): void;
  /** Forwards everything again. Does not revive abandoned connections. */
  heal(): Promise<void>;
}

/**
 * Called with a server's bytes on one connection. Returns the bytes to forward; undefined resets the
 * connection.
 */
export type ReplyFilter = (chunk: Buffer) => Buffer | undefined;

/** A TCP proxy on loopback in front of one server. Its port never changes. */
export class TcpProxy implements ProxyControls, AsyncDisposable {
  readonly port: number;
  /** Creates the filter of each new connection; undefined filters nothing. */
  makeReplyFilter: (() => ReplyFilter) | undefined;
  readonly #targetPort: number;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  #conditions: LinkConditions = normalConditions();

  /** Opens a proxy on a free port. */
  static async open(targetPort: number): Promise<TcpProxy> {
    // A half-closed connection stays usable in the other direction, as without a proxy.
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(targetPort, server);
  }

  private constructor(targetPort: number, server: Server) {
    const address = server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
    this.#targetPort = targetPort;
    this.#server = server;
    server.on('connection', (client: Socket) => this.#forward(client));
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  async cut(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    this.reset();
    await closed;
  }

  blackhole(): void {
    this.#conditions.open ??= Promise.withResolvers();
  }

  delay(latencyMs: number): void {
    this.#conditions.latencyMs = latencyMs;
  }

  trickle(bytesPerSecond: number): void {
    this.#conditions.bytesPerSecond = bytesPerSecond;
  }

  resetMidFrame(): void {
    for (const connection of this.#connections) connection.resetsMidFrame = true;
  }

  reset(): void {
    for (const connection of this.#connections) connection.reset();
  }

  abandon(): void {
    for (const connection of this.#connections) connection.isAbandoned = true;
  }

  async heal(): Promise<void> {
    const { open } = this.#conditions;
    Object.assign(this.#conditions, normalConditions());
    open?.resolve();
    if (this.#server.listening) return;
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#conditions.open?.resolve();
    await this.cut();
  }

  #forward(client: Socket): void {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const connection = new ProxiedConnection(client, server);
    this.#connections.add(connection);
    for (const end of [client, server]) {
      end.setNoDelay(true);
      end.on('error', () => connection.reset());
      end.on('close', () => {
        if (!connection.isAbandoned) connection.reset();
        if (connection.isClosed) this.#connections.delete(connection);
      });
    }
    const filter = this.makeReplyFilter?.();
    startRelay(client, server, this.#conditions, (chunk) => connection.filterRequest(chunk));
    startRelay(server, client, this.#conditions, (chunk) => {
      if (connection.isAbandoned) return noBytes;
      const forwarded = filter === undefined ? chunk : filter(chunk);
      if (forwarded === undefined) connection.reset();
      return forwarded;
    });
  }
}

/**
 * Closes a socket with a TCP reset if possible. A socket that is still connecting, or that is shutting down,
 * can only be closed: libuv rejects the reset, Node then never closes the handle, and waits for it at 100%
 * CPU when the process ends.
 */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  const isShuttingDown = socket.writableEnded && !socket.writableFinished;
  if (socket.connecting || isShuttingDown) socket.destroy();
  else socket.resetAndDestroy();
}

/** The two sockets of a connection through the proxy. */
class ProxiedConnection {
  resetsMidFrame = false;
  isAbandoned = false;
  readonly #ends: readonly Socket[];

  constructor(...ends: readonly Socket[]) {
    this.#ends = ends;
  }

  get isClosed(): boolean {
    return this.#ends.every((end) => end.destroyed);
  }

  reset(): void {
    for (const end of this.#ends) resetSocket(end);
  }

  /** The part of a client's chunk to forward: all of it, or the first half, followed by a reset. */
  filterRequest(chunk: Buffer): Buffer {
    if (this.isAbandoned) return noBytes;
    if (!this.resetsMidFrame || chunk.length < 2) return chunk;
    this.resetsMidFrame = false;
    // A reset discards bytes that are not sent or not read yet: the first half must be delivered before. A
    // server in this process reads between the two.
    setTimeout(() => setImmediate(() => this.reset()), midFrameMs);
    return chunk.subarray(0, chunk.length / 2);
  }
}

const noBytes = Buffer.alloc(0);

/** The delay between the first half of a frame and the reset. */
const midFrameMs = 20;

function normalConditions(): LinkConditions {
  return { open: undefined, latencyMs: 0, bytesPerSecond: Infinity };
}
