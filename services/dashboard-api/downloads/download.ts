import type { IncomingMessage, ServerResponse } from 'node:http';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { z } from 'zod';
import type { Actor } from '../../../lib/accounts/audit/audit.ts';
import type { Role } from '../../../lib/accounts/role.ts';
import type { Caller } from '../../../lib/fair-limiter.ts';
import type { Logger } from '../../../lib/log.ts';
import { actorOf, requireRole, requireUser } from '../access.ts';
import { logFailure, senderOf } from '../request-log.ts';
import type { Services } from '../trpc/context.ts';
import { classifyFailure } from '../trpc/failure.ts';
import { publicMessage } from '../trpc/public-message.ts';
import { readRequest } from '../trpc/request.ts';
import type { DownloadSlots } from './download-slots.ts';

export interface DownloadDependencies {
  services: Services;
  /** The long downloads that run. */
  slots: DownloadSlots;
  log: Logger;
}

/** Everything that is sent by a download carries these: what a client stored must never run in the dashboard's origin. */
export const downloadHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** An id of a path. @throws TRPCError NOT_FOUND: like everything that does not exist. */
export function parsePathId(text: string | undefined): string {
  const parsed = z.guid().toLowerCase().safeParse(text);
  if (parsed.success) return parsed.data;
  throw new TRPCError({ code: 'NOT_FOUND', message: 'There is nothing at this path.' });
}

/** A request for a file of a space. */
interface SpaceRequest {
  request: IncomingMessage;
  response: ServerResponse;
  spaceId: string;
}

/** A user who may have a download. */
export interface Downloader {
  actor: Actor;
  /** Whose turn the statements of the download wait for. They end when the client leaves. */
  caller: Caller;
  /** Checks access again, on what Postgres has now. @throws as checkDownload */
  checkAccess: () => Promise<void>;
}

/**
 * Checks that the user of the session has at least the role in the space of a path.
 *
 * @throws TRPCError UNAUTHORIZED without a session; NOT_FOUND for a space that the user is not a member of; FORBIDDEN to a lower
 *   role.
 */
export async function checkDownload(
  services: Services,
  { request, response, spaceId }: SpaceRequest,
  least: Role,
): Promise<Downloader> {
  const { token, address, sender } = readRequest(request, response, services.findAddress);
  const check = async () => {
    const user = await requireUser(services.sessions, token);
    sender.userId = user.userId;
    requireRole(user, spaceId, least);
    return actorOf(user, address, { role: { spaceId, least } });
  };
  const actor = await check();
  const left = new AbortController();
  response.once('close', () => left.abort());
  const caller = { spaceId, userId: actor.id, signal: left.signal };
  return { actor, caller, checkAccess: async () => void (await check()) };
}

/** Answers a download that failed, as the same failure of a procedure is: the status, and a text for people. */
export function sendDownloadFailure(
  { request, response, log }: { request: IncomingMessage; response: ServerResponse; log: Logger },
  thrown: unknown,
): void {
  const error = classifyFailure(getTRPCErrorFromUnknown(thrown));
  logFailure(log, request.url?.split('?', 1)[0], { error, sender: senderOf(response) });
  // The client must notice: what it has is not all.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response
    .writeHead(getHTTPStatusCodeFromError(error), { ...downloadHeaders, 'Content-Type': 'text/plain' })
    .end(`${publicMessage(error)}\n`);
}
