import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKeyCache } from '../admit/api-key-cache.ts';
import { authenticateExporter } from '../admit/authenticate.ts';
import { sendJson } from '../respond/respond.ts';

/**
 * `GET /api/public/projects`: requested by `auth_check()` of the Langfuse SDKs, which programs call before
 * they send anything. The response contains the space of the key.
 * @throws IngestError `unauthorized`, `ingest_unavailable`
 */
export async function describeProject(
  { apiKeyCache }: { apiKeyCache: ApiKeyCache },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { spaceId } = await authenticateExporter(request, apiKeyCache);
  const name = 'Weir';
  const project = { id: spaceId, name, organization: { id: spaceId, name }, metadata: {} };
  sendJson(response, 200, { data: [project] });
}
