import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { leaderCheckMs } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { QueueStream } from './settings.ts';

/**
 * Keeps two streams led from different nodes of the cluster, so that no node takes both of them away. After elections
 * they may be led from the same one: the second stream's leader is then asked to make way, which takes a moment.
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
    log.info({ node: leaders[0], stream: second.name }, 'two streams were led from one node; one moves');
  };
  const keepChecking = async () => {
    while (!stopping.signal.aborted) {
      // A cluster without a leader cannot be asked; the next look will find one.
      await check().catch((error) => log.debug({ err: error }, 'who leads the streams is not known'));
      await sleep(leaderCheckMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  void keepChecking();
  return { [Symbol.dispose]: () => stopping.abort() };
}
