import type { IncomingMessage } from 'node:http';
import { isApiKey } from '../../../store/accounts/api-key.ts';
import { type ApiKeyCache, type Principal, unauthorized } from './api-key-cache.ts';

/** HTTP allows only spaces and tabs around the value (RFC 9110 §5.6.3). `trim` would also remove U+00A0. */
const bearer = /^[ \t]*Bearer +(\S+)[ \t]*$/i;

/**
 * Authenticates a request by its `Authorization: Bearer <API_KEY>` (docs/api.md §5).
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

/** Finds the API key of a request, and its space. @throws what `authenticate` throws. */
export type Authenticate = typeof authenticate;

/**
 * Authenticates a request of an OpenTelemetry exporter by the API key in one of its headers. The formats of
 * exporters are fixed: some send `OTEL_EXPORTER_OTLP_HEADERS` undecoded (`Bearer%20KEY`), some the bare key;
 * Langfuse's send Basic credentials with the key as user or password, others send `x-api-key` (LangSmith) or
 * `api_key` (Phoenix).
 * @throws what `authenticate` throws; `unauthorized` also for two different keys: choosing one would be a
 * guess.
 */
export function authenticateExporter(
  request: IncomingMessage,
  apiKeyCache: ApiKeyCache,
): Principal | Promise<Principal> {
  const headers = request.rawHeaders;
  const keys = new Set<string>();
  for (let i = 0; i < headers.length; i += 2) {
    const isCredential = credentialHeaders.has(headers[i]?.toLowerCase() ?? '');
    for (const text of isCredential ? credentialsIn(headers[i + 1] ?? '') : [])
      if (isApiKey(text)) keys.add(text);
  }
  const [apiKey, ...others] = keys;
  if (apiKey === undefined || others.length > 0) throw unauthorized();
  return apiKeyCache.find(apiKey);
}

const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api_key', 'api-key']);
const exporterScheme = /^(?:(Basic|Bearer)(?:[ \t]|%20)+)?(.*)$/i;

function credentialsIn(value: string): string[] {
  const [, scheme, credentials = ''] = exporterScheme.exec(value.trim()) ?? [];
  const isBasic = scheme?.toLowerCase() === 'basic';
  return isBasic ? Buffer.from(credentials, 'base64').toString().split(':') : [credentials];
}
