import { type IncomingMessage, request as openRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a request may hold the event loop, and a margin for a machine that runs the database and this client too. */
export const stallMsMax = 100;
export const stallMarginMs = 50;

const probeMs = 10;

/** Asks for /healthz, which needs nothing but the event loop, again and again. @returns what stops it, with the longest answer in ms. */
export function startProbe(url: string): { stop(): Promise<number> } {
  let isOn = true;
  let longest = 0;
  const probing = (async () => {
    while (isOn) {
      const startedMs = performance.now();
      await read(`${url}/healthz`);
      longest = Math.max(longest, performance.now() - startedMs);
      await sleep(probeMs);
    }
  })();
  return {
    async stop() {
      isOn = false;
      await probing;
      return longest;
    },
  };
}

interface Sent {
  readonly headers?: Record<string, string>;
  /** JSON, which is posted. */
  readonly body?: string | undefined;
}

export function open(url: string, { headers = {}, body }: Sent = {}): Promise<IncomingMessage> {
  const posted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const options = body === undefined ? { headers } : { method: 'POST', headers: { ...headers, ...posted } };
  return new Promise((resolve, reject) => {
    openRequest(url, options, resolve).on('error', reject).end(body);
  });
}

export async function read(url: string, sent?: Sent): Promise<{ status: number; bytes: number }> {
  const response = await open(url, sent);
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
  return { status: response.statusCode ?? 0, bytes };
}
