import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../log.ts';
import { leaderCheckMs } from './limits.ts';
import type { QueueStream } from './settings.ts';

/**
 * Keeps the leaders of two streams on different nodes of a cluster, so that the loss of one node stops at most one
 * stream. When an election puts both on one node, it requests the second stream's leader to step down.
 */
export function keepLeadersApart(
  connection: NatsConnection,
  manager: JetStreamManager,
  streams: readonly QueueStream[],
  log: Logger,
): Disposable {
  const [first, second] = streams;
  const stopping = new AbortController();
  const leaderOf = async ({ name }: QueueStream) => (await manager.streams.info(name)).cluster?.leader;
  const check = async () => {
    if (first === undefined || second === undefined) return;
    const leaders = await Promise.all([leaderOf(first), leaderOf(second)]);
    if (leaders[0] === undefined || leaders[0] !== leaders[1]) return;
    await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${second.name}`, '', { timeout: leaderCheckMs });
    log.info(
      { node: leaders[0], stream: second.name },
      'both streams had their leader on one node; one leader steps down',
    );
  };
  const checkRepeatedly = async () => {
    while (!stopping.signal.aborted) {
      // A cluster without a leader does not answer; the next check will.
      await check().catch((error) => log.debug({ err: error }, 'cannot read the leaders of the streams'));
      await sleep(leaderCheckMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  void checkRepeatedly();
  return { [Symbol.dispose]: () => stopping.abort() };
}
