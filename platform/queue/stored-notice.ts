import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { uuidShape } from '../uuid.ts';

/** A core NATS subject: notices need no durability, since dashboards also poll twice a second. */
const subject = 'weir.stored';

const uuid = new RegExp(`^${uuidShape}$`);

/**
 * Tells dashboards whose events were just committed, fire and forget. @throws when the connection is closed.
 */
export function publishStoredNotice(connection: NatsConnection, spaceIds: Iterable<string>): void {
  connection.publish(subject, [...spaceIds].join(','));
}

/** Ignores malformed ids: other programs may publish on this subject. */
export function onStoredNotice(connection: NatsConnection, wake: (spaceId: string) => void): void {
  connection.subscribe(subject, {
    callback: (error: Error | null, message: Msg) => {
      if (error !== null) return;
      for (const spaceId of message.string().split(',')) if (uuid.test(spaceId)) wake(spaceId);
    },
  });
}
