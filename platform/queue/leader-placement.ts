import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { startLoop } from '../background-loop.ts';
import type { Logger } from '../log.ts';
import { leaderCheckMs } from './limits.ts';
import type { QueueStream } from './settings.ts';

interface Placed {
  connection: NatsConnection;
  manager: JetStreamManager;
  streams: readonly QueueStream[];
}

/**
 * Keeps the leaders of two streams on different nodes, so that the loss of a node stops at most one stream:
 * when an election puts both on one node, the second one's leader is asked to step down.
 */
export function keepLeadersApart({ connection, manager, streams }: Placed, log: Logger): AsyncDisposable {
  const [first, second] = streams;
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
  const failure = 'the leaders of the streams were not read';
  return startLoop({ run: check, intervalMs: leaderCheckMs, failure }, log);
}
