import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { PortTakenError } from '../process/server-process.ts';

/** Lies below the ephemeral range of outgoing connections: the port of a crashed server stays free. */
const portMin = 20_000;
const portMax = 31_999;

/** Attempts to find a free port among 12,000: enough unless nearly all are taken. */
const triesMax = 200;
/** Attempts to start a server on other ports when its port was taken between the check and the start. */
const startsMax = 5;

/**
 * Listens on an address and closes at once.
 * @param reusePort whether other processes may listen on it, too.
 * @returns the system's error code; undefined when that works.
 */
export function findPortFault(host: string, port: number, reusePort = false): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true, reusePort }, () => server.close(() => resolve(undefined)));
  });
}

export async function chooseFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count && tries < triesMax; tries++) {
    const port = randomInt(portMin, portMax + 1);
    if ((await findPortFault('127.0.0.1', port)) === undefined) ports.add(port);
  }
  if (ports.size < count) throw new Error(`No free ports between ${portMin} and ${portMax} on 127.0.0.1.`);
  return [...ports];
}

/**
 * Starts a server on free ports, and again on others when another process takes one in the meantime.
 * @param preferred tried first, e.g. the ports of the last run.
 * @throws the error of `start`, unless it is a PortTakenError and attempts are left.
 */
export async function startOnFreePorts<T>(
  count: number,
  start: (ports: number[]) => Promise<T>,
  preferred?: readonly number[],
): Promise<T> {
  for (let starts = 1; ; starts++) {
    const ports = starts === 1 && preferred ? [...preferred] : await chooseFreePorts(count);
    try {
      return await start(ports);
    } catch (error) {
      if (!(error instanceof PortTakenError) || starts === startsMax) throw error;
    }
  }
}
