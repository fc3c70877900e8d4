import { setTimeout as sleep } from 'node:timers/promises';
import type { TcpProxy } from '../../network/tcp-proxy.ts';
import type { Random } from '../../random.ts';
import { type ProxiedKind, requireProxies } from '../../system/service-proxies.ts';
import type { Fault, FaultRun } from '../fault.ts';

/** The connections between services and servers. */
const links = [
  { kind: 'ingest', server: 'nats' },
  { kind: 'writer', server: 'nats' },
  { kind: 'ingest', server: 'postgres' },
  { kind: 'writer', server: 'postgres' },
] as const satisfies { kind: ProxiedKind; server: 'nats' | 'postgres' }[];

/** Injects a network fault into each link in turn, holds it, and heals it. */
function disturb(
  fault: Pick<Fault, 'name' | 'title'>,
  { holdMsMax, disturbOne }: { holdMsMax: number; disturbOne: (proxy: TcpProxy, random: Random) => unknown },
): Fault {
  return {
    ...fault,
    row: 9,
    system: { proxied: true },
    async inject({ system, random, thorough, log }: FaultRun) {
      const proxies = requireProxies(system);
      try {
        for (const { kind, server } of links) {
          const holdMs = random.between(500, thorough ? 10 * holdMsMax : holdMsMax);
          log(`${kind} and ${server}, for ${holdMs} ms`);
          for (const proxy of [proxies[kind][server]].flat()) await disturbOne(proxy, random);
          await sleep(holdMs);
          await proxies.heal();
        }
      } finally {
        await proxies.heal();
      }
    },
  };
}

export const partition = disturb(
  {
    name: 'partition',
    title: 'partition between each service and each server, by resets or silently',
  },
  {
    holdMsMax: 3_000,
    disturbOne: (proxy, random) => (random.between(0, 1) === 0 ? proxy.cut() : proxy.blackhole()),
  },
);

export const latency = disturb(
  { name: 'latency', title: 'up to 300 ms of latency between each service and each server' },
  { holdMsMax: 2_000, disturbOne: (proxy, random) => proxy.delay(random.between(20, 300)) },
);

export const trickle = disturb(
  { name: 'trickle', title: '20 to 200 KB/s between each service and each server' },
  { holdMsMax: 3_000, disturbOne: (proxy, random) => proxy.trickle(random.between(20_000, 200_000)) },
);

export const resetMidFrame = disturb(
  { name: 'reset-mid-frame', title: 'connections reset in the middle of a frame' },
  { holdMsMax: 1_500, disturbOne: (proxy) => proxy.resetMidFrame() },
);

export const deadConnections = disturb(
  {
    name: 'dead-connections',
    title: 'open connections carry no more bytes and are not closed; new ones work',
  },
  { holdMsMax: 1_500, disturbOne: (proxy) => proxy.abandon() },
);
