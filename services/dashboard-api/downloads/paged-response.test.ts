import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { sendPages } from './paged-response.ts';

const page = 'x'.repeat(1024 * 1024);
async function* endless(): AsyncGenerator<string> {
  for (;;) yield page;
}

test('a client that stops reading loses the connection, and the pages end', async () => {
  const sent = Promise.withResolvers<unknown>();
  const server = createServer((_, response) => {
    sendPages({ response, pages: endless(), checkAccess: async () => {}, pageMsMax: 100 }).then(
      () => sent.resolve('complete'),
      sent.resolve,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const [response] = await once(request, 'response');
  expect(await sent.promise).toBeInstanceOf(Error);
  await expect(Array.fromAsync(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
  server.close();
});
