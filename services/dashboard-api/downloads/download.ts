import type { IncomingMessage, ServerResponse } from 'node:http';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { z } from 'zod';
import type { Actor } from '../../../lib/accounts/audit/audit.ts';
import type { Role } from '../../../lib/accounts/role.ts';
import type { Logger } from '../../../lib/log.ts';
import { actorOf, requireRole, requireUser } from '../access.ts';
import type { SpaceAdmin } from '../admin/space-admin.ts';
import { logFailure } from '../request-log.ts';
import type { SpaceStore } from '../spaces/space-store.ts';
import type { Services } from '../trpc/context.ts';
import { classifyFailure } from '../trpc/failure.ts';
import { publicMessage } from '../trpc/public-message.ts';
import { readRequest } from '../trpc/request.ts';

export interface DownloadDependencies {
  services: Services;
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

/**
 * Opens the space of a path for the user of the session, who may have any role in it.
 *
 * @throws TRPCError UNAUTHORIZED without a session; NOT_FOUND for a space that the user is not a member of.
 */
export async function openDownloadedSpace(services: Services, asked: SpaceRequest): Promise<SpaceStore> {
  const { id: userId } = await checkRole(services, asked, 'viewer');
  const left = new AbortController();
  asked.response.once('close', () => left.abort());
  return services.openSpace({ spaceId: asked.spaceId, userId, signal: left.signal });
}

/**
 * Opens what the admins of the space of a path see.
 *
 * @throws TRPCError as openDownloadedSpace; FORBIDDEN to other members.
 */
export async function openDownloadedAdmin(services: Services, asked: SpaceRequest): Promise<SpaceAdmin> {
  return services.openSpaceAdmin(asked.spaceId, await checkRole(services, asked, 'admin'));
}

async function checkRole(
  services: Services,
  { request, response, spaceId }: SpaceRequest,
  least: Role,
): Promise<Actor> {
  const { token, address } = readRequest(request, response, services.findAddress);
  const user = await requireUser(services.sessions, token);
  requireRole(user, spaceId, least);
  return actorOf(user, address, { spaceId, least });
}

/** Answers a download that failed, as the same failure of a procedure is: the status, and a text for people. */
export function sendDownloadFailure(
  { request, response, log }: { request: IncomingMessage; response: ServerResponse; log: Logger },
  thrown: unknown,
): void {
  const error = classifyFailure(getTRPCErrorFromUnknown(thrown));
  logFailure(log, request.url?.split('?', 1)[0], error);
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
