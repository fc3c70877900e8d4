import { readFileSync } from 'node:fs';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { openPeerDatabase } from './database.ts';
import { createEvents } from './ordinary/table.ts';
import type { Peer } from './peer.ts';
import { startPeerProcess } from './process.ts';

const { devDependencies, dependencies } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const apiKey = 'a key of the ordinary way';

/**
 * What one would write in an afternoon with the same servers (`ordinary/`): two processes, as Weir's ingest
 * and writer.
 */
export const ordinary: Peer = {
  name: 'Fastify + Zod, a publish an event, Drizzle into jsonb',
  version: `fastify ${devDependencies.fastify}, zod ${dependencies.zod}, drizzle-orm ${dependencies['drizzle-orm']}`,
  answersAfter: 'fsync of the queue',
  async start({ connection, superuserUrl, directory }) {
    await using stack = new AsyncDisposableStack();
    const database = stack.use(await openPeerDatabase(superuserUrl, 'ordinary'));
    await database.sql.unsafe(createEvents);
    const [port] = await chooseFreePorts(1);
    const env = {
      NODE_ENV: 'production',
      PORT: String(port),
      API_KEY: apiKey,
      NATS_URL: connection.natsUrl,
      DATABASE_URL: database.url,
    };
    const url = `http://127.0.0.1:${port}/v1/ingest-events`;
    const command = (file: string) =>
      [execPath, fileURLToPath(new URL(`ordinary/${file}`, import.meta.url))] as const;
    stack.use(
      await startPeerProcess({ name: 'ordinary-consumer', command: command('consumer.ts'), env, directory }),
    );
    stack.use(
      await startPeerProcess({
        name: 'ordinary-server',
        command: command('server.ts'),
        env,
        directory,
        readyUrl: url,
      }),
    );
    const owned = stack.move();
    return {
      url,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      status: 202,
      async countStored() {
        const [row] = await database.sql`SELECT count(*)::float8 AS events FROM ${database.sql('events')}`;
        return Number(row?.events);
      },
      countBytes: database.countBytes,
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  },
};
