import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * Whether a request may come from the page that its Origin names: the dashboard's own, or none, as programs send it. Without
 * DASHBOARD_PUBLIC_URL the dashboard's own host counts only when it is an address or localhost, because a page could name its own
 * server and then let the name point here (DNS rebinding).
 */
export function isAllowedOrigin({ headers }: IncomingMessage, publicUrl: string | undefined): boolean {
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const sent = new URL(origin);
  if (publicUrl !== undefined) return sent.origin === new URL(publicUrl).origin;
  const host = headers[':authority']?.toString() ?? headers.host;
  const isFixed = sent.hostname === 'localhost' || isIP(sent.hostname.replaceAll(/[[\]]/g, '')) !== 0;
  return isFixed && sent.host === host?.toLowerCase();
}
