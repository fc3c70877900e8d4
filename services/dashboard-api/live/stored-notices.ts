import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../lib/log.ts';
import { connectQueue } from '../../../lib/queue/connect.ts';
import { onStoredNotice } from '../../../lib/queue/stored-notice.ts';
import { noticeConnectMs } from './limits.ts';

/**
 * Listens to what writers report as stored. The dashboard does not need it: without nats-server, live streams look for new
 * events once a second. So it connects in the background, until it succeeds; the connection then reconnects by itself.
 */
export function followStoredNotices(
  natsUrl: string,
  wake: (spaceId: string) => void,
  log: Logger,
): AsyncDisposable {
  const stopping = new AbortController();
  const connecting = (async () => {
    for (let isLogged = false; !stopping.signal.aborted; isLogged = true) {
      try {
        const connection = await connectQueue(natsUrl, 'weir-dashboard-api');
        onStoredNotice(connection, wake);
        return connection;
      } catch (error) {
        if (!isLogged) log.warn({ err: error }, 'live events come once a second: no nats-server; retrying');
        await sleep(noticeConnectMs, undefined, stopping).catch(() => {});
      }
    }
    return undefined;
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const connection = await connecting;
      // Nothing is lost that is still under way, so it is not drained.
      await connection?.close();
    },
  };
}
