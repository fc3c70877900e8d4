// The servers of the benchmark, in a separate process: a Weir that accepts everything, and a provider.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { answer, stream } from './answers.ts';

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('latin1').on('data', (part) => {
    if (body.length < 100) body += part;
  });
  request.on('end', () => {
    if (request.url?.endsWith('/ingest-events')) return response.writeHead(202).end('{"message":"Queued."}');
    if (!body.includes('"stream":true')) {
      return response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    }
    response.socket?.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of stream) response.write(event);
    return response.end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
