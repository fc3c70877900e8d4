import { expect } from 'vitest';
import { type ErrorId, errorTable } from '../../event/errors.ts';
import { toolEvent } from '../../harness/fixtures/events.ts';
import type { Pipeline, Tenant } from './pipeline.ts';

/** A response of ingest with its parsed body. */
export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

interface PostOptions {
  headers?: Record<string, string>;
}

/** Posts a body unchanged to `/v1/ingest-events`. */
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

/** Expects a response in the error shape of docs/api.md §7. */
export function expectError(answer: Answer, id: ErrorId, details: string | RegExp = /./): void {
  expect(answer.body).toEqual({
    error: {
      id,
      title: errorTable[id].title,
      status: errorTable[id].status,
      details: typeof details === 'string' ? details : expect.stringMatching(details),
    },
  });
  expect(answer.status).toBe(errorTable[id].status);
  expect(answer.headers.get('content-type')).toBe('application/json');
}

export function expectQueued(answer: Answer, count: number): void {
  expect(answer.body).toEqual({ message: `Queued ${count} ${count === 1 ? 'event' : 'events'}.` });
  expect(answer.status).toBe(202);
}

/** A valid body of exactly this size. */
export function bodyOf(bytes: number): Buffer {
  const body = (pad: string) => JSON.stringify({ events: [toolEvent({ properties: { tool: { pad } } })] });
  return Buffer.from(body('x'.repeat(bytes - body('').length)));
}
