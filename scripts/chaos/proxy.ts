import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Conditions, startPump } from './pump.ts';

/** How a proxy treats what runs through it. Bytes are never lost but with their connection, as TCP has it. */
export interface ProxyControls {
  /** Breaks every connection, and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections, and what they send, and passes nothing on until it is healed. */
  blackhole(): void;
  /** Everything arrives so much later. */
  delay(latencyMs: number): void;
  /** No direction of a connection carries more than this. */
  trickle(bytesPerSecond: number): void;
  /** Breaks each connection that is there in the middle of the next chunk of at least two bytes that comes from the client. */
  resetMidFrame(): void;
  /** Breaks the connections that are there. */
  reset(): void;
  /** The connections that are there never say anything again, and do not end, as when the other machine is gone. */
  abandon(): void;
  /** Passes everything again, at once. */
  heal(): Promise<void>;
}

/** Sees what a server answers on one connection, and returns what the client is to get of it; undefined breaks both ends. */
export type ReplyFilter = (chunk: Buffer) => Buffer | undefined;

/** A TCP proxy on loopback before one server. Its port stays the same for as long as it lives. */
export class TcpProxy implements ProxyControls, AsyncDisposable {
  readonly port: number;
  /** Makes the filter of each new connection's answers; undefined filters nothing. */
  makeReplyFilter: (() => ReplyFilter) | undefined;
  readonly #targetPort: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #conditions: Conditions = freshConditions();

  /** @param port a free one; 0 takes any. */
  static async open(targetPort: number, port = 0): Promise<TcpProxy> {
    // Half-open is what TCP allows; passing on the end of one direction keeps the other one going.
    const server = createServer({ allowHalfOpen: true });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(targetPort, server);
  }

  private constructor(targetPort: number, server: Server) {
    const address = server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
    this.#targetPort = targetPort;
    this.#server = server;
    server.on('connection', (client: Socket) => this.#pass(client));
  }

  /** How many connections run through it. */
  get connections(): number {
    return this.#pairs.size;
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
    for (const pair of this.#pairs) pair.breaksMidFrame = true;
  }

  reset(): void {
    for (const pair of this.#pairs) pair.reset();
  }

  abandon(): void {
    for (const pair of this.#pairs) pair.isAbandoned = true;
  }

  async heal(): Promise<void> {
    const { open } = this.#conditions;
    Object.assign(this.#conditions, freshConditions());
    open?.resolve();
    if (this.#server.listening) return;
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#conditions.open?.resolve();
    await this.cut();
  }

  #pass(client: Socket): void {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const pair = new Pair(client, server);
    this.#pairs.add(pair);
    for (const end of [client, server]) {
      end.setNoDelay(true);
      end.on('error', () => pair.reset());
      end.on('close', () => {
        if (!pair.isAbandoned) pair.reset();
        if (pair.isClosed) this.#pairs.delete(pair);
      });
    }
    const filter = this.makeReplyFilter?.();
    startPump(client, server, this.#conditions, (chunk) => pair.cutShort(chunk));
    startPump(server, client, this.#conditions, (chunk) => {
      if (pair.isAbandoned) return nothing;
      const passed = filter === undefined ? chunk : filter(chunk);
      if (passed === undefined) pair.reset();
      return passed;
    });
  }
}

/** The two ends of a connection through the proxy. */
class Pair {
  breaksMidFrame = false;
  isAbandoned = false;
  readonly #ends: readonly Socket[];

  constructor(...ends: readonly Socket[]) {
    this.#ends = ends;
  }

  get isClosed(): boolean {
    return this.#ends.every((end) => end.destroyed);
  }

  reset(): void {
    for (const end of this.#ends) {
      // Where there is nobody to reset yet, closing is all there is to do.
      if (end.connecting) end.destroy();
      else if (!end.destroyed) end.resetAndDestroy();
    }
  }

  /** What of a chunk is passed: all, or half of it, and then the connection breaks. */
  cutShort(chunk: Buffer): Buffer {
    if (this.isAbandoned) return nothing;
    if (!this.breaksMidFrame || chunk.length < 2) return chunk;
    this.breaksMidFrame = false;
    // Half of it has to get out before the reset throws away what is not sent yet.
    setTimeout(() => this.reset(), midFrameMs);
    return chunk.subarray(0, chunk.length / 2);
  }
}

const nothing = Buffer.alloc(0);

/** So long the half of a frame lies at the other end before the connection breaks. */
const midFrameMs = 20;

function freshConditions(): Conditions {
  return { open: undefined, latencyMs: 0, bytesPerSecond: Infinity };
}
