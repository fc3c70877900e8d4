import { expect, test } from 'vitest';
import { usePipeline } from '../support/use-pipeline.ts';

const origin = 'https://app.example.com';
const { pipeline } = usePipeline({
  variables: { INGEST_ALLOWED_ORIGINS: `${origin}, http://localhost:5173` },
});

const paths = ['/v1/ingest-events', '/weir.ingest.v1.IngestService/IngestEvents'];

test.each(paths)('a page of an allowed origin may call %s, and can read errors', async (path) => {
  const preflight = await fetch(pipeline.url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, x-grpc-web',
    },
  });
  expect(preflight.status).toBe(204);
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
  for (const name of [
    'authorization',
    'content-type',
    'x-grpc-web',
    'connect-protocol-version',
    'grpc-timeout',
  ]) {
    expect(allowed).toContain(name);
  }
  const refused = await fetch(pipeline.url + path, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('access-control-allow-origin')).toBe(origin);
  expect(refused.headers.get('access-control-expose-headers')).toContain('Grpc-Status');
  expect(refused.headers.get('vary')).toBe('Origin');
});

test('a page of another origin cannot read responses, and gets 405 for OPTIONS', async () => {
  const headers = { origin: 'https://evil.example.com', 'access-control-request-method': 'POST' };
  const preflight = await fetch(`${pipeline.url}/v1/ingest-events`, { method: 'OPTIONS', headers });
  expect(preflight.status).toBe(405);
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
});
