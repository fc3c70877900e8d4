import { createHmac } from 'node:crypto';
import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm';
import type { Transporter } from 'nodemailer';
import { cutText } from '../../../event/text.ts';
import type { ConfigWith } from '../../../platform/config.ts';
import type { Database } from '../../../store/db/database.ts';
import { alertDeliveries, alertEvents, alertTargets } from '../../../store/db/schema.ts';
import {
  attemptsMax,
  deliveriesAtOnceMax,
  deliveriesOfSpaceMax,
  deliveryTimeoutMs,
  retryFirstMs,
  retryMsMax,
} from './limits.ts';
import { type AlertMessage, describeAlert, slackBody } from './message.ts';
import { ForbiddenTargetError, postJson, signWebhook } from './webhook.ts';

type Delivery = typeof alertDeliveries.$inferSelect;
type Target = typeof alertTargets.$inferSelect;

/** The id is the same for each attempt. */
export type SendAlert = (target: Target, id: string, message: AlertMessage) => Promise<void>;

/** Derived from the webhook's id and API_KEY_PEPPER, so that it is not stored. */
export function webhookSecret(pepper: string, targetId: string): string {
  const derived = createHmac('sha256', pepper).update(`weir alert webhook ${targetId}`).digest('base64url');
  return `whsec_${derived}`;
}

export function openSender(config: ConfigWith<'API_KEY_PEPPER'>): SendAlert {
  const { API_KEY_PEPPER: pepper, ALERT_TARGETS_PRIVATE: isPrivateAllowed, SMTP_FROM: from } = config;
  let mail: Promise<Transporter> | undefined;
  return async ({ kind, id: targetId, address }, id, message) => {
    if (kind === 'email') {
      if (config.SMTP_URL === undefined) throw new ForbiddenTargetError('SMTP_URL is not set.');
      mail ??= openMail(config.SMTP_URL);
      const text = `${describeAlert(message)}\n${message.link ?? ''}\n`;
      const subject = cutText(describeAlert(message), 200);
      await (await mail).sendMail({
        from,
        to: { name: '', address },
        subject,
        text,
        messageId: `<${id}@weir>`,
      });
      return;
    }
    if (kind === 'slack')
      return postJson({ url: address, headers: {}, body: slackBody(message), isPrivateAllowed });
    const body = JSON.stringify({ id, text: describeAlert(message), ...message });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const headers = {
      'Weir-Alert-Id': id,
      'Weir-Timestamp': timestamp,
      'Weir-Signature': signWebhook(webhookSecret(pepper, targetId), timestamp, body),
    };
    await postJson({ url: address, headers, body, isPrivateAllowed });
  };
}

/** Loads the library with the first e-mail: most installations send none. */
async function openMail(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: deliveryTimeoutMs,
    greetingTimeout: deliveryTimeoutMs,
    socketTimeout: deliveryTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/**
 * Sends due deliveries, and stores the outcome. A claim is also the time of the next attempt: when a process
 * ends, its deliveries are sent again, at least once. @returns how many were attempted.
 */
export async function deliverDue(database: Database, send: SendAlert): Promise<number> {
  const claimed = await claimDeliveries(database);
  await Promise.all(claimed.map((delivery) => deliver(database, delivery, send)));
  return claimed.length;
}

async function claimDeliveries(database: Database): Promise<Delivery[]> {
  const { spaceId, id, attempts, attemptAt, deliveredAt, failedAt } = alertDeliveries;
  const isDue = and(isNull(deliveredAt), isNull(failedAt), lte(attemptAt, sql`now()`));
  // The first of each space, then the second: receivers that do not answer delay no other space.
  const place = sql<number>`row_number() OVER (PARTITION BY ${spaceId} ORDER BY ${attemptAt})`.as('place');
  const ranked = database.select({ id, attemptAt, place }).from(alertDeliveries).where(isDue).as('ranked');
  const next = database
    .select({ id: ranked.id })
    .from(ranked)
    .where(lte(ranked.place, deliveriesOfSpaceMax))
    .orderBy(asc(ranked.place), asc(ranked.attemptAt))
    .limit(deliveriesAtOnceMax);
  const due = database
    .select({ id })
    .from(alertDeliveries)
    // Again `isDue`: another process may have claimed it since.
    .where(and(inArray(id, next), isDue))
    .for('update', { skipLocked: true });
  const pauseMs = sql`least(${retryFirstMs}::float8 * 2 ^ least(${attempts}, 30), ${retryMsMax}::float8)`;
  return database
    .update(alertDeliveries)
    .set({ attempts: sql`${attempts} + 1`, attemptAt: sql`now() + ${pauseMs} * interval '1 millisecond'` })
    .where(inArray(id, due))
    .returning();
}

async function deliver(database: Database, delivery: Delivery, send: SendAlert): Promise<void> {
  const { spaceId, id } = delivery;
  const [[event], [target]] = await Promise.all([
    database
      .select()
      .from(alertEvents)
      .where(and(eq(alertEvents.spaceId, spaceId), eq(alertEvents.id, delivery.eventId))),
    database
      .select()
      .from(alertTargets)
      .where(and(eq(alertTargets.spaceId, spaceId), eq(alertTargets.id, delivery.targetId))),
  ]);
  const store = (values: Partial<typeof alertDeliveries.$inferInsert>) =>
    database
      .update(alertDeliveries)
      .set(values)
      .where(and(eq(alertDeliveries.spaceId, spaceId), eq(alertDeliveries.id, id)));
  const now = new Date();
  if (event === undefined || target === undefined) {
    await store({ failedAt: now, failure: 'The target was removed.' });
    return;
  }
  try {
    // Written by evaluateNext and by the test of a target.
    await send(target, id, event.message as unknown as AlertMessage);
    await store({ deliveredAt: now, failure: null });
  } catch (error) {
    const isFinal = error instanceof ForbiddenTargetError || delivery.attempts >= attemptsMax;
    await store({ failure: describe(error), ...(isFinal && { failedAt: now }) });
  }
}

/** What a person may read: not the addresses that a name resolves to, nor what a mail server answered. */
function describe(error: unknown): string {
  if (error instanceof ForbiddenTargetError) return error.message;
  if (!(error instanceof Error)) return 'The message could not be sent.';
  if ('responseCode' in error && typeof error.responseCode === 'number')
    return `The mail server answered ${error.responseCode}.`;
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'The receiver did not answer in time.';
  if ('code' in error && typeof error.code === 'string')
    return `The receiver could not be reached (${error.code}).`;
  return /^The receiver answered \d+\.$/.test(error.message)
    ? error.message
    : 'The message could not be sent.';
}
