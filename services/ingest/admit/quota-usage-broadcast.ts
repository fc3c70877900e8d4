import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { Logger } from '../../../platform/log.ts';
import { withTimeout } from '../../../platform/timeout.ts';

const quotaUsageSchema = z.object({
  spaceId: z.guid(),
  events: z.int().nonnegative(),
  /** The position in the queue of the message that carries the events. */
  position: z.object({ stream: z.string(), sequence: z.int().nonnegative() }),
});

/** Events accepted for a space with a limit. */
export type QuotaUsage = z.infer<typeof quotaUsageSchema>;

/** A {@link QuotaUsage} and the process that published it. */
const messageSchema = quotaUsageSchema.extend({ from: z.guid() });

/** A subject of core NATS, not of the queue: only processes that are running need the message. */
const subject = 'weir.accepted';

/** Longest time that a request waits for the broadcast. After that the count in the database decides. */
const broadcastTimeoutMs = 250;

export type QuotaUsageBroadcast = ReturnType<typeof openQuotaUsageBroadcast>;

/**
 * Publishes usage of spaces with a limit between ingest processes (ADR 0007). Malformed messages are logged
 * and ignored: another program may publish on the subject.
 */
export function openQuotaUsageBroadcast(connection: NatsConnection, log: Logger) {
  const self = crypto.randomUUID();
  // One round trip is enough: nats-server processes and delivers the messages of a connection in order.
  const flush = () => withTimeout(broadcastTimeoutMs, connection.flush()).catch(() => {});
  return {
    /** Calls back for every message of another process. */
    listen(onUsage: (usage: QuotaUsage) => void): void {
      connection.subscribe(subject, {
        callback(error, message) {
          if (error !== null) return;
          const parsed = messageSchema.safeParse(tryParseJson(message.string()));
          if (!parsed.success)
            return log.warn({ bytes: message.data.length }, `malformed message on ${subject}`);
          const { from, ...usage } = parsed.data;
          if (from !== self) onUsage(usage);
        },
      });
    },
    /** Publishes to the other processes. Resolves when nats-server has delivered it, or is unreachable. */
    announce(usage: QuotaUsage): Promise<void> {
      connection.publish(subject, JSON.stringify({ ...usage, from: self }));
      return flush();
    },
    /** Resolves when all earlier announcements were received, or nats-server is unreachable. */
    caughtUp: flush,
  };
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
