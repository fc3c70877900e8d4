import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A door to Postgres that a test can shut: what runs through it breaks, and nothing new gets in. */
export class Passage implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target = new URL('postgres://unknown');
  #port = 0;

  static async open(): Promise<Passage> {
    const passage = new Passage();
    await passage.reopen();
    return passage;
  }

  private constructor() {
    this.#server = createServer((socket) => this.#pass(socket));
  }

  /** The URL of a database, through this passage. */
  lead(databaseUrl: string): string {
    this.#target = new URL(databaseUrl);
    const led = new URL(databaseUrl);
    led.host = `127.0.0.1:${this.#port}`;
    return led.href;
  }

  /** Breaks what runs through it, and refuses what comes. */
  async shut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Lets through again, at the same address. */
  async reopen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  #pass(socket: Socket): void {
    const upstream = connect(Number(this.#target.port), this.#target.hostname);
    for (const end of [socket, upstream]) {
      this.#sockets.add(end);
      end.on('error', () => {});
      end.on('close', () => {
        this.#sockets.delete(end);
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.pipe(upstream).pipe(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.shut();
  }
}
