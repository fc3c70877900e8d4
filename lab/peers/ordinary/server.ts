import process from 'node:process';
import { jetstream } from '@nats-io/jetstream';
import Fastify from 'fastify';
import { batchSchema } from './event.ts';
import { openQueue, subject } from './queue.ts';

/**
 * Accepts batches: validates them, publishes one message an event, and answers 202 when nats-server has
 * fsynced all of them.
 */
const { PORT, NATS_URL = '', API_KEY } = process.env;
const { connection } = await openQueue(NATS_URL);
const client = jetstream(connection);
const app = Fastify({ bodyLimit: 4 * 1024 ** 2 });

app.post('/v1/ingest-events', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${API_KEY}`)
    return reply.code(401).send({ error: 'unauthorized' });
  const batch = batchSchema.safeParse(request.body);
  if (!batch.success) return reply.code(400).send({ error: batch.error.issues });
  const { events } = batch.data;
  await Promise.all(events.map((event) => client.publish(subject, JSON.stringify(event))));
  return reply.code(202).send({ message: `Queued ${events.length} events.` });
});

process.once('SIGTERM', async () => {
  await app.close();
  await connection.drain();
});
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
