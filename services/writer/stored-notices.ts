import type { NatsConnection } from '@nats-io/transport-node';
import { publishStoredNotice } from '../../lib/queue/stored-notice.ts';
import { storedNoticeMs } from './limits.ts';

/** Tells dashboards where something was stored, so that live tails need not wait for their next look. */
export interface StoredNotices extends Disposable {
  /** Notes spaces in which events were committed. Never throws: without the notice, events are only shown later. */
  add(spaceIds: Iterable<string>): void;
}

/** Sends what was noted within a short time as one message. */
export function openStoredNotices(connection: NatsConnection): StoredNotices {
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
    add(spaceIds) {
      for (const spaceId of spaceIds) noted.add(spaceId);
      timer ??= setTimeout(send, storedNoticeMs);
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      send();
    },
  };
}
