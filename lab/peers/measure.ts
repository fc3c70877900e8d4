import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PackagesUnreachableError } from '../../harness/tools/build-cache.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { eventsPerBatchMax } from '../../platform/limits.ts';
import { prepareSpanBodies } from './bodies.ts';
import { collectorInstaller } from './collector.ts';
import { measureLoad } from './load.ts';
import { ordinary } from './ordinary.ts';
import type { Peer, PeerServers } from './peer.ts';
import { pythonInstallers } from './python-peers.ts';
import { type Comparison, type Result, renderComparison } from './table.ts';
import { weirJson, weirOtlp } from './weir.ts';

/** The same events for every peer. */
export interface PeerWorkload {
  events: readonly Buffer[];
  nextBatch(): Buffer;
  nextSingle(): Buffer;
}

export interface PeerOptions {
  rounds: number;
  seconds: number;
  say(text: string): void;
}

/** Enough connections to keep two cores busy, as in the other measurements. */
const batchConnections = 4;
const singleConnections = 128;

/**
 * Measures Weir and what one would use instead, in turns: each round has every peer once, which is started
 * for its turn and stopped after it. All use the Postgres and the nats-server of one Weir.
 *
 * @returns the table as Markdown, with the medians. A peer that cannot be installed here is named below it.
 */
export async function measurePeers(
  { connection, superuserUrl }: PeerServers,
  workload: PeerWorkload,
  { rounds, seconds, say }: PeerOptions,
): Promise<string> {
  const { peers, skipped } = await installPeers(say);
  const comparisons = listComparisons(workload, peers);
  const results = comparisons.flatMap((comparison) =>
    comparison.peers.map((peer): Result => ({ comparison, peer, rounds: [] })),
  );
  const directory = mkdtempSync(join(tmpdir(), 'weir-peers-'));
  const load = loadavg()[0] ?? Number.NaN;
  try {
    for (let round = 1; round <= rounds; round++) {
      // Every second round in reverse, so that no peer always follows the same other one.
      const turns = round % 2 === 1 ? results : results.toReversed();
      for (const { comparison, peer, rounds: measured } of turns) {
        const own = join(directory, peer.name.replaceAll(/\W+/g, '-'));
        mkdirSync(own, { recursive: true });
        await using running = await peer.start({ connection, superuserUrl, directory: own });
        const result = await measureLoad(peer, running, { ...comparison.load, seconds });
        measured.push(result);
        say(
          `round ${round}, ${comparison.input}, ${peer.name}: ${result.stored} in ${result.seconds.toFixed(1)} s`,
        );
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return [
    renderComparison(results),
    ...skipped,
    `Load average of the machine before: ${load.toFixed(1)}.`,
  ].join('\n\n');
}

function listComparisons(workload: PeerWorkload, peers: readonly Peer[]): Comparison[] {
  const json = [weirJson, ordinary];
  return [
    {
      input: 'JSON, 500 events a request',
      load: {
        connections: batchConnections,
        nextBody: () => ({ bytes: workload.nextBatch(), items: eventsPerBatchMax }),
      },
      peers: json,
    },
    {
      input: 'JSON, one event a request',
      load: {
        connections: singleConnections,
        nextBody: () => ({ bytes: workload.nextSingle(), items: 1 }),
      },
      peers: json,
    },
    {
      input: 'OTLP, 512 spans a request',
      load: { connections: batchConnections, nextBody: prepareSpanBodies(workload.events) },
      peers: [weirOtlp, ...peers],
    },
  ];
}

/** Installs the peers into the cache. Those that this machine cannot install are skipped, with the reason. */
async function installPeers(say: PeerOptions['say']): Promise<{ peers: Peer[]; skipped: string[] }> {
  const peers: Peer[] = [];
  const skipped: string[] = [];
  for (const { name, tools, install } of [...pythonInstallers, collectorInstaller]) {
    const missing = findMissingTool(tools);
    if (missing === undefined) {
      say(`installing ${name} …`);
      try {
        peers.push(await install());
        continue;
      } catch (error) {
        if (!(error instanceof PackagesUnreachableError)) throw error;
      }
    }
    skipped.push(`${name} is skipped: ${missing ?? 'its packages cannot be downloaded'}.`);
  }
  return { peers, skipped };
}
