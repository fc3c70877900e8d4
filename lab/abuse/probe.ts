import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as openRequest } from 'node:http';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a request may hold the event loop, and a margin for a machine that runs the database and this
 * client too.
 */
export const stallMsMax = 100;
const stallMarginMs = 50;

const probeMs = 10;

/**
 * A server that does nothing else, in a process of its own: what it takes longest for is what the machine
 * adds.
 */
const idleServer = `require('node:http').createServer((_, response) => response.end())
  .listen(0, '127.0.0.1', function () { process.send(this.address().port); });
process.on('disconnect', () => process.exit());`;

/** The longest answer of a service to /healthz, and of a server that does nothing else, in ms. */
export interface Stall {
  readonly stallMs: number;
  readonly idleMs: number;
}

/** Whether the service held its event loop for too long, beyond what the machine adds. */
export function isTooLong({ stallMs, idleMs }: Stall): boolean {
  return stallMs > stallMsMax + Math.max(stallMarginMs, idleMs);
}

export interface Probe extends AsyncDisposable {
  /** @returns what was longest since the last call, with the answers that are on their way. */
  take(): Promise<Stall>;
}

/** Asks for /healthz, which needs nothing but the event loop, again and again. */
export async function startProbe(url: string): Promise<Probe> {
  const idle = spawn(process.execPath, ['-e', idleServer], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [port] = await once(idle, 'message');
  let isOn = true;
  const asked = [`${url}/healthz`, `http://127.0.0.1:${port}`].map((address) => {
    const state = { longest: 0, answered: Promise.resolve() };
    const agent = openAgent();
    const probing = (async () => {
      for (; isOn; await sleep(probeMs)) {
        const startedMs = performance.now();
        state.answered = read(address, { agent }).then(() => {
          state.longest = Math.max(state.longest, performance.now() - startedMs);
        });
        await state.answered;
      }
    })();
    return { state, probing };
  });
  return {
    async take() {
      const [stallMs = 0, idleMs = 0] = await Promise.all(
        asked.map(async ({ state }) => {
          await state.answered;
          const { longest } = state;
          state.longest = 0;
          return longest;
        }),
      );
      return { stallMs, idleMs };
    },
    async [Symbol.asyncDispose]() {
      isOn = false;
      await Promise.all(asked.map(({ probing }) => probing));
      idle.disconnect();
    },
  };
}

/**
 * Connections of one client: with those of all clients in one pool, its next request waits until a new one is
 * accepted.
 */
export function openAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

interface Sent {
  readonly agent?: Agent;
  readonly headers?: Record<string, string>;
  /** JSON, which is posted. */
  readonly body?: string | undefined;
}

export function open(url: string, { headers = {}, body, agent }: Sent = {}): Promise<IncomingMessage> {
  const posted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const options = {
    agent,
    ...(body === undefined ? { headers } : { method: 'POST', headers: { ...headers, ...posted } }),
  };
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
