import type { NatsConnection } from '@nats-io/transport-node';
import { publishStoredNotice } from '../../platform/queue/stored-notice.ts';
import { storedNoticeMs } from './limits.ts';

/**
 * Announces the spaces of stored events to dashboards, so that live tails read before their next poll: those
 * of the last `storedNoticeMs` in one message.
 */
export function openStoredNotices(connection: NatsConnection) {
  const noted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const send = () => {
    timer = undefined;
    try {
      if (noted.size > 0) publishStoredNotice(connection, noted);
    } catch {
      // The connection is closing.
    }
    noted.clear();
  };
  return {
    /** Never throws: without a notice, events are only shown later. */
    add(spaceIds: Iterable<string>): void {
      for (const spaceId of spaceIds) noted.add(spaceId);
      timer ??= setTimeout(send, storedNoticeMs);
    },
    [Symbol.dispose](): void {
      clearTimeout(timer);
      send();
    },
  };
}
