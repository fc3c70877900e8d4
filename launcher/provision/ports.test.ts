import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { PortTakenError } from '../process/server-process.ts';
import { findPortFault, startOnFreePorts } from './ports.ts';

test('a port in use is reported as EADDRINUSE', async () => {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  expect(await findPortFault('127.0.0.1', port)).toBe('EADDRINUSE');
});

test('the preferred ports are tried first, and taken ports are replaced', async () => {
  const tried: number[][] = [];
  const ports = await startOnFreePorts(
    2,
    async (chosen) => {
      tried.push(chosen);
      if (tried.length < 3) throw new PortTakenError('taken');
      return chosen;
    },
    [20_001, 20_002],
  );
  expect(tried[0]).toEqual([20_001, 20_002]);
  expect(ports).toEqual(tried[2]);
  expect(new Set(ports).size).toBe(2);
  for (const port of ports) expect(port).toSatisfy((value: number) => value >= 20_000 && value < 32_000);
});

test('any other failure is not retried', async () => {
  let starts = 0;
  const failing = startOnFreePorts(1, async () => {
    starts++;
    throw new Error('out of memory');
  });
  await expect(failing).rejects.toThrow('out of memory');
  expect(starts).toBe(1);
});
