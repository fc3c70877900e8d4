import { openPostgres } from '../../store/db/connect.ts';
import { countDatabaseBytes } from './database.ts';
import type { Peer, PeerHost } from './peer.ts';

const open = ({ connection }: PeerHost) =>
  openPostgres(connection.databaseUrl, { applicationName: 'weir-peers', statementTimeoutMs: 0 });

const weir = { name: 'Weir', version: 'this checkout', answersAfter: 'fsync of the queue' };

/** The Weir that runs already, over its JSON API. */
export const weirJson: Peer = {
  ...weir,
  async start(host) {
    const sql = open(host);
    return {
      url: `${host.connection.ingestUrl}/v1/ingest-events`,
      headers: { authorization: `Bearer ${host.connection.apiKey}`, 'content-type': 'application/json' },
      status: 202,
      async countStored() {
        const [row] = await sql`SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months`;
        return Number(row?.events);
      },
      countBytes: () => countDatabaseBytes(sql),
      [Symbol.asyncDispose]: () => sql[Symbol.asyncDispose](),
    };
  },
};

/** The same over OTLP. The span of an agent is no event, but a node of its trace. */
export const weirOtlp: Peer = {
  ...weir,
  async start(host) {
    const sql = open(host);
    return {
      url: `${host.connection.ingestUrl}/v1/traces`,
      headers: {
        authorization: `Bearer ${host.connection.apiKey}`,
        'content-type': 'application/x-protobuf',
      },
      status: 200,
      async countStored() {
        const [row] = await sql`
          SELECT (SELECT coalesce(sum(events), 0) FROM usage_months)::float8
            + (SELECT count(*) FROM trace_nodes WHERE kind = 'agent')::float8 AS spans`;
        return Number(row?.spans);
      },
      countBytes: () => countDatabaseBytes(sql),
      [Symbol.asyncDispose]: () => sql[Symbol.asyncDispose](),
    };
  },
};
