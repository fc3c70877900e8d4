import type { IncomingMessage } from 'node:http';
import { type ApiKeyCache, type Principal, unauthorized } from './api-key-cache.ts';

/** Around the value HTTP allows spaces and tabs only (RFC 9110 §5.6.3). `trim` would remove U+00A0 too. */
const bearer = /^[ \t]*Bearer +(\S+)[ \t]*$/i;

/**
 * Authenticates a request by its `Authorization: Bearer <API_KEY>` (docs/api.md §5).
 *
 * @throws IngestError `unauthorized`, also for two Authorization headers: choosing one would be a guess;
 *   `ingest_unavailable` when Postgres is unreachable and the key is not cached.
 */
export function authenticate(
  request: IncomingMessage,
  apiKeyCache: ApiKeyCache,
): Principal | Promise<Principal> {
  let value: string | undefined;
  const headers = request.rawHeaders;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i];
    if (name?.length !== 'authorization'.length || name.toLowerCase() !== 'authorization') continue;
    if (value !== undefined) throw unauthorized();
    value = headers[i + 1];
  }
  const apiKey = bearer.exec(value ?? '')?.[1];
  if (apiKey === undefined) throw unauthorized();
  return apiKeyCache.find(apiKey);
}
