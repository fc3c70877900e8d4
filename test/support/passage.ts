import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A door to Postgres that a test can shut: what runs through it breaks, and nothing new gets in. */
export class Passage implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target = new URL('postgres://unknown');
  #isOpen = true;

  static async open(): Promise<Passage> {
    const passage = new Passage();
    passage.#server.listen(0, '127.0.0.1');
    await once(passage.#server, 'listening');
    return passage;
  }

  private constructor() {
    this.#server = createServer((socket) => this.#pass(socket));
  }

  /** The URL of a database, through this passage. */
  lead(databaseUrl: string): string {
    this.#target = new URL(databaseUrl);
    const address = this.#server.address();
    const led = new URL(databaseUrl);
    led.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    return led.href;
  }

  set isOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    if (!isOpen) for (const socket of this.#sockets) socket.destroy();
  }

  #pass(socket: Socket): void {
    if (!this.#isOpen) return void socket.destroy();
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
    this.isOpen = false;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}
