import type { Pipeline, Tenant } from './pipeline.ts';

/** An answer of ingest, with its body parsed. */
export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

interface PostOptions {
  headers?: Record<string, string>;
}

/** Posts a body as it is to `/v1/ingest-events`. */
export async function postRaw(
  pipeline: Pick<Pipeline, 'url'>,
  tenant: Pick<Tenant, 'apiKey'>,
  body: string | Uint8Array,
  { headers = {} }: PostOptions = {},
): Promise<Answer> {
  const response = await fetch(`${pipeline.url}/v1/ingest-events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json', ...headers },
    body: Buffer.from(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Posts events as `{"events":[…]}`. */
export function postEvents(
  pipeline: Pick<Pipeline, 'url'>,
  tenant: Pick<Tenant, 'apiKey'>,
  events: unknown,
): Promise<Answer> {
  return postRaw(pipeline, tenant, JSON.stringify({ events }));
}
