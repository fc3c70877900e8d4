import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { runWeir } from './command-line.ts';

/** Answers a request; `number` counts the requests of a test from 0. */
export type Respond = (response: ServerResponse, request: { number: number; body: string }) => void;

export const accept: Respond = (response) => response.writeHead(202).end('{"message":"Queued."}');

export function refuse(
  response: ServerResponse,
  status: number,
  id: string,
  details = `${id}, it says`,
): void {
  response.writeHead(status).end(JSON.stringify({ error: { id, title: id, status, details } }));
}

/** The events of a body, as written in it. They must not contain `},{`. */
export function eventTexts(body: string): string[] {
  return body.slice('{"events":['.length, -2).replaceAll('},{', '}\n{').split('\n');
}

/** A stub server in place of ingest, reset for each test of the file that opens it. */
export class IngestStub {
  directory = '';
  /** The bodies of all requests of this test. */
  received: string[] = [];
  /** Set by a test to send something else than 202. */
  respond: Respond = accept;
  #server: Server = createServer();

  constructor() {
    beforeAll(() => {
      this.directory = mkdtempSync(join(tmpdir(), 'weir-test-send-'));
    });
    afterAll(() => rmSync(this.directory, { recursive: true }));
    beforeEach(() => this.#open());
    afterEach(async () => {
      this.#server.closeAllConnections();
      await once(this.#server.close(), 'close');
    });
  }

  /**
   * Runs `weir send` on a file with this content against the server. The file stays as it is while its
   * content is the same.
   */
  async send(content: string | Buffer, ...options: string[]) {
    const file = join(this.directory, 'events.ndjson');
    if (!existsSync(file) || !readFileSync(file).equals(Buffer.from(content))) writeFileSync(file, content);
    const { port } = this.#server.address() as AddressInfo;
    const target = ['--url', `http://127.0.0.1:${port}`, '--key', 'weir_key'];
    const { exitCode, stdout, stderr } = await runWeir(['send', file, ...target, ...options]);
    return { exitCode, summary: JSON.parse(stdout), stderr };
  }

  async #open(): Promise<void> {
    this.received = [];
    this.respond = accept;
    this.#server = createServer(async (request, response) => {
      const bytes = await buffer(request).catch(() => undefined);
      // The client closed the connection.
      if (bytes === undefined) return;
      const body = bytes.toString();
      this.respond(response, { number: this.received.push(body) - 1, body });
    });
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }
}
