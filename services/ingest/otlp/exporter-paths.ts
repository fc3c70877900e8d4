import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKeyCache } from '../admit/api-key-cache.ts';
import { authenticateExporter } from '../admit/authenticate.ts';
import { sendJson } from '../respond/respond.ts';
import { exportOverHttp, signals } from './export.ts';
import { findMediaHandlers } from './media/media-doors.ts';

/** The end of the paths that OpenTelemetry exporters post to. The base path depends on the vendor. */
const signalPath = /\/v1\/(traces|metrics|logs)$/;

/** Langfuse SDKs request this path to check their keys. */
const projectsPath = '/api/public/projects';

const exporting = {
  traces: { POST: exportOverHttp(signals.traces) },
  metrics: { POST: exportOverHttp(signals.metrics) },
  logs: { POST: exportOverHttp(signals.logs) },
};

/**
 * The handlers of the paths that SDKs of other systems use, by method, so that an application only changes
 * its endpoint:
 * `/api/public/otel/v1/traces` (Langfuse), `/otel/v1/traces` (LangSmith), `/api/v1/otel/v1/traces`, and any
 * other base path. Double and trailing slashes are ignored.
 * @returns undefined for an unknown path.
 */
export function findExporterHandlers(path: string) {
  const normalized = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  if (normalized === projectsPath) return { GET: describeProject };
  const media = findMediaHandlers(normalized);
  if (media !== undefined) return media;
  const signal = signalPath.exec(normalized)?.[1] as keyof typeof exporting | undefined;
  return signal === undefined ? undefined : exporting[signal];
}

/**
 * `GET /api/public/projects`: requested by `auth_check()` of the Langfuse SDKs, which programs call before
 * they send anything. The response contains the space of the key.
 * @throws IngestError `unauthorized`, `ingest_unavailable`
 */
async function describeProject(
  { apiKeyCache }: { apiKeyCache: ApiKeyCache },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { spaceId } = await authenticateExporter(request, apiKeyCache);
  const name = 'Weir';
  const project = { id: spaceId, name, organization: { id: spaceId, name }, metadata: {} };
  sendJson(response, 200, { data: [project] });
}
