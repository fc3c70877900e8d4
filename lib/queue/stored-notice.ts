import type { Msg, NatsConnection } from '@nats-io/transport-node';

/** Core NATS, not the queue: only processes that run now need it, and they look for themselves once a second. */
const subject = 'weir.stored';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Tells the dashboards in which spaces events were just committed. It is not awaited. Call it after COMMIT.
 *
 * @throws when the connection is closed.
 */
export function publishStoredNotice(connection: NatsConnection, spaceIds: Iterable<string>): void {
  connection.publish(subject, [...spaceIds].join(','));
}

/** Calls back with the spaces of each notice. What is no id of a space is ignored: another program may publish here. */
export function onStoredNotice(connection: NatsConnection, wake: (spaceId: string) => void): void {
  connection.subscribe(subject, {
    callback: (error: Error | null, message: Msg) => {
      if (error !== null) return;
      for (const spaceId of message.string().split(',')) if (uuid.test(spaceId)) wake(spaceId);
    },
  });
}
