import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../../../platform/log.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { answerDiscovery, type ServiceReport } from '../../../platform/queue/service-discovery.ts';
import { onStoredNotice } from '../../../platform/queue/stored-notice.ts';
import { noticeConnectMs } from './limits.ts';

/**
 * Subscribes to the writers' notifications, and answers service discovery. Without nats-server, live streams
 * poll twice a second: so the connection is made in the background, with retries until it succeeds, after
 * which it reconnects by itself.
 */
export function followStoredNotices(
  natsUrl: string,
  {
    wake,
    report,
    onConnect,
  }: {
    wake: (spaceId: string) => void;
    report: () => ServiceReport;
    /** Called once with the connection, which reconnects by itself. */
    onConnect: (connection: NatsConnection) => void;
  },
  log: Logger,
): AsyncDisposable {
  const stopping = new AbortController();
  const connecting = (async () => {
    for (let isLogged = false; !stopping.signal.aborted; isLogged = true) {
      try {
        const connection = await connectQueue(natsUrl, 'weir-dashboard-api');
        onStoredNotice(connection, wake);
        answerDiscovery(connection, report);
        onConnect(connection);
        return connection;
      } catch (error) {
        if (!isLogged) log.warn({ err: error }, 'no nats-server: live streams poll twice a second; retrying');
        await sleep(noticeConnectMs, undefined, stopping).catch(() => {});
      }
    }
    return undefined;
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const connection = await connecting;
      // Not drained: pending notifications are of no use.
      await connection?.close();
    },
  };
}
