import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { WeirEvent } from '../../src/event/event.ts';

export interface StubRequest {
  method: string;
  headers: IncomingMessage['headers'];
  text: string;
  events: WeirEvent[];
}

/** Responds to a request; undefined accepts it. */
export type Respond = (
  request: StubRequest,
  response: ServerResponse,
) => boolean | undefined | Promise<boolean>;

/** A stub of Weir that records the accepted events. Its port stays the same while it is closed. */
export class WeirStub implements AsyncDisposable {
  /** All received requests, in order. */
  readonly requests: StubRequest[] = [];
  /** The accepted events; of one id only the first, as in Weir. */
  readonly accepted = new Map<string, WeirEvent>();
  /** How often each id was accepted. */
  readonly deliveries = new Map<string, number>();
  /** Keep only counts, without events and requests, for runs that are larger than memory. */
  isCounting = false;
  /** Returns true when it has sent a response. */
  respond: Respond = () => undefined;
  #server: Server | undefined;
  #port = 0;
  /** Senders of other tests may still try the port, when a server of theirs had it before. */
  readonly #path = `/${randomUUID()}`;

  static async start(): Promise<WeirStub> {
    const stub = new WeirStub();
    await stub.open();
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}${this.#path}`;
  }

  get events(): WeirEvent[] {
    return [...this.accepted.values()];
  }

  async open(): Promise<void> {
    this.#server = createServer((request, response) => void this.#take(request, response));
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    if (server) await once(server.close(), 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) return;
    if (!incoming.url?.startsWith(this.#path)) return void response.writeHead(404).end();
    const text = (incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    const method = incoming.method ?? '';
    const events = method === 'POST' ? JSON.parse(text).events : [];
    const request = { method, headers: incoming.headers, text, events };
    if (!this.isCounting) this.requests.push(request);
    if (await this.respond(request, response)) return;
    for (const event of request.events) {
      if (!this.isCounting && !this.accepted.has(event.id)) this.accepted.set(event.id, event);
      this.deliveries.set(event.id, (this.deliveries.get(event.id) ?? 0) + 1);
    }
    response.writeHead(202, { 'weir-batch-id': `batch-${this.requests.length}` });
    response.end(`{"message":"Queued ${request.events.length} events."}`);
  }
}

/** Sends an error in the shape of docs/api.md §7. */
export function refuse(
  response: ServerResponse,
  status: number,
  details = '',
  headers: Record<string, string> = {},
): true {
  response.writeHead(status, headers);
  response.end(JSON.stringify({ error: { id: 'some_error', title: 'Some error', status, details } }));
  return true;
}
