import { once } from 'node:events';
import { connect } from 'node:http2';
import { Pool } from 'undici';
import { openIngestClient } from '../../cli/client/ingest-client.ts';
import type { Connection } from '../../launcher/local-system.ts';
import { inEnvelope } from './rpc-bodies.ts';

/** Sends one body. @throws Error unless it is accepted. */
export type Sender = { send(body: Buffer): Promise<void> } & AsyncDisposable;

export interface SenderOptions {
  connection: Pick<Connection, 'ingestUrl' | 'apiKey'>;
  connections: number;
}

const rpcPath = '/weir.ingest.v1.IngestService/IngestEvents';

/**
 * A client for each protocol. They do as little as possible, because they share the machine with the measured
 * service.
 */
export const senders = {
  json: ({ connection: { ingestUrl: url, apiKey }, connections }: SenderOptions): Sender => {
    const { post, [Symbol.asyncDispose]: dispose } = openIngestClient({
      url,
      apiKey,
      connections,
      timeoutMs: 30_000,
    });
    const send = async (body: Buffer) => {
      const { status, body: text } = await post(body);
      if (status !== 202) throw new Error(`ingest responded with ${status}: ${text}`);
    };
    return { send, [Symbol.asyncDispose]: dispose };
  },

  connect: ({ connection: { ingestUrl, apiKey }, connections }: SenderOptions): Sender => {
    const pool = new Pool(ingestUrl, { connections, pipelining: 1 });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/proto' };
    const send = async (body: Buffer) => {
      const response = await pool.request({ method: 'POST', path: rpcPath, headers, body });
      const text = await response.body.text();
      if (response.statusCode !== 200)
        throw new Error(`ingest responded with ${response.statusCode}: ${text}`);
    };
    return { send, [Symbol.asyncDispose]: () => pool.destroy() };
  },

  grpc: ({ connection: { ingestUrl, apiKey }, connections }: SenderOptions): Sender => {
    // As many connections as the other protocols use, with one stream each, so that the figures can be
    // compared.
    const sessions = Array.from({ length: connections }, () => connect(ingestUrl));
    const headers = {
      ':method': 'POST',
      ':path': rpcPath,
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    };
    const send = async (body: Buffer) => {
      const session = sessions.pop();
      if (session === undefined) throw new Error('every connection is busy');
      const stream = session.request(headers);
      const trailers = once(stream, 'trailers');
      stream.end(inEnvelope(body));
      stream.resume();
      const [{ 'grpc-status': status, 'grpc-message': message }] = await trailers;
      if (status !== '0') throw new Error(`ingest responded with grpc-status ${status}: ${message}`);
      sessions.push(session);
    };
    return {
      send,
      [Symbol.asyncDispose]: async () => {
        for (const session of sessions) session.destroy();
      },
    };
  },
} satisfies Record<string, (options: SenderOptions) => Sender>;

export type Protocol = keyof typeof senders;
