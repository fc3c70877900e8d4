import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { findMissingChromium, openChromium } from '../../harness/tools/chromium.ts';
import { startPipeline } from '../support/pipeline.ts';

const missing = findMissingChromium();
const title = 'a page of an allowed origin sends events from a browser, and a page of another origin cannot';
// The reporter does not print the titles of skipped tests.
if (missing !== undefined) console.warn(`"${title}" is skipped: ${missing}`);

test.skipIf(missing !== undefined)(title, async () => {
  await using stack = new AsyncDisposableStack();
  const allowed = stack.use(await servePage());
  const other = stack.use(await servePage());
  const pipeline = stack.use(await startPipeline({ INGEST_ALLOWED_ORIGINS: allowed.origin }));
  const { apiKey } = await pipeline.createTenant();
  const browser = await openChromium();
  stack.defer(() => browser.close());
  const page = await browser.newPage();

  const postJson = (key: string) =>
    page.evaluate(
      async ([url, authorization]) => {
        const response = await fetch(`${url}/v1/ingest-events`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: '{"events":[]}',
        });
        return { status: response.status, body: await response.text() };
      },
      [pipeline.url, `Bearer ${key}`] as const,
    );
  const callGrpcWeb = (key: string) =>
    page.evaluate(
      async ([url, authorization]) => {
        const response = await fetch(`${url}/weir.ingest.v1.IngestService/IngestEvents`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' },
          // One envelope with an empty batch.
          body: new Uint8Array(5),
        });
        return response.text();
      },
      [pipeline.url, `Bearer ${key}`] as const,
    );

  await page.goto(allowed.origin);
  expect(await postJson(apiKey)).toEqual({ status: 202, body: '{"message":"Queued 0 events."}' });
  expect(await postJson('unknown')).toMatchObject({ status: 401 });
  expect(await callGrpcWeb(apiKey)).toMatch(/Queued 0 events\..*grpc-status: ?0/s);
  expect(await callGrpcWeb('unknown')).toMatch(/grpc-status: ?16/);

  await page.goto(other.origin);
  await expect(postJson(apiKey)).rejects.toThrow('Failed to fetch');
  await expect(callGrpcWeb(apiKey)).rejects.toThrow('Failed to fetch');
});

/** Serves an empty page at an origin of its own. */
async function servePage(): Promise<{ origin: string } & AsyncDisposable> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${typeof address === 'object' && address?.port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
