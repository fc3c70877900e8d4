import type { IncomingMessage, ServerResponse } from 'node:http';
import { getTRPCErrorFromUnknown } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { z } from 'zod';
import type { Logger } from '../../../platform/log.ts';
import type { Role } from '../../../store/accounts/role.ts';
import { actorOf, requireCaller, requireRole, requireScope } from '../access.ts';
import type { FairSlots } from '../fair-slots.ts';
import { refusal } from '../refusal.ts';
import { logFailure, senderOf } from '../request-log.ts';
import { noteCaller, type Services } from '../trpc/context.ts';
import { classifyFailure, publicMessage } from '../trpc/failure.ts';
import { readRequest } from '../trpc/request.ts';

export interface DownloadDependencies {
  services: Services;
  slots: FairSlots;
  log: Logger;
}

/** Content stored by clients must never run in the dashboard's origin. */
export const downloadHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

export const pathGuid = z.guid().toLowerCase();

/** @throws TRPCError NOT_FOUND, as for an id that does not exist. */
export function parsePathId(text: string | undefined, shape: z.ZodType<string> = pathGuid): string {
  const parsed = shape.safeParse(text);
  if (parsed.success) return parsed.data;
  throw refusal('NOT_FOUND', 'There is nothing at this path.');
}

/**
 * Checks that the caller has at least the role in the space of a path.
 * @throws TRPCError UNAUTHORIZED without a caller; NOT_FOUND for a space of others; FORBIDDEN for a lower
 * role.
 */
export async function checkDownload(
  services: Services,
  { request, response, spaceId }: { request: IncomingMessage; response: ServerResponse; spaceId: string },
  least: Role,
) {
  const asked = readRequest(request, response, services.findAddress);
  const { address, sender } = asked;
  const check = async () => {
    const user = await requireCaller(services, asked);
    noteCaller(sender, user);
    requireRole(user, { spaceId, least });
    requireScope(user, { isStatistics: false });
    return user;
  };
  const user = await check();
  const actor = actorOf(user, address, { role: { spaceId, least } });
  const left = new AbortController();
  response.once('close', () => left.abort());
  const caller = { spaceId, holderId: user.holderId, signal: left.signal };
  return {
    actor,
    /** The caller whose share of statements is used. They are cancelled when the client disconnects. */
    caller,
    /** Repeats the check with the current state in Postgres. @throws as checkDownload */
    checkAccess: async () => void (await check()),
  };
}

/** Sends the failure of a download with the same status and message as a procedure. */
export function sendDownloadFailure(
  { request, response, log }: { request: IncomingMessage; response: ServerResponse; log: Logger },
  thrown: unknown,
): void {
  const error = classifyFailure(getTRPCErrorFromUnknown(thrown));
  logFailure(log, request.url?.split('?', 1)[0], { error, sender: senderOf(response) });
  // Resets the connection, so that the client notices that the body is incomplete.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response
    .writeHead(getHTTPStatusCodeFromError(error), { ...downloadHeaders, 'Content-Type': 'text/plain' })
    .end(`${publicMessage(error)}\n`);
}
