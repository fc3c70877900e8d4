import type { Probes } from '../../platform/metrics/service-port.ts';
import type { FindUnready } from '../../platform/readiness.ts';
import type { QueueFigures } from '../../store/queue-state/queue-figures.ts';
import { shownSpacesMax, stuckMs } from './limits.ts';
import type { FailedNode } from './parts/failed-nodes.ts';

/**
 * Ready while Postgres and nats-server answer, and no node of Citus has failed. Dead (`store`) when nothing
 * was stored for `stuckMs` although messages wait and both answer: only a restart can help.
 * @param lastStoredAtMs when a message was last stored or settled, by `performance.now()`.
 */
export function createWriterProbes(options: {
  /** Whether Postgres and nats-server answer. */
  findUnready: FindUnready;
  readQueue: () => Promise<QueueFigures[]>;
  lastStoredAtMs: () => number;
  failedNodes: () => readonly FailedNode[];
  startedAtMs?: number;
}): Probes {
  const { findUnready, readQueue, lastStoredAtMs, failedNodes } = options;
  /** When no message had waited for long. */
  let promptAtMs = options.startedAtMs ?? performance.now();
  return {
    findUnready: async () => [...(await findUnready()), ...failedNodes().map(describeFailedNode)],
    async findDead() {
      const figures = await readQueue().catch(() => []);
      if (figures.every(({ oldestSeconds }) => oldestSeconds * 1_000 < stuckMs))
        promptAtMs = performance.now();
      const sinceMs = performance.now() - Math.max(promptAtMs, lastStoredAtMs());
      if (sinceMs < stuckMs || (await findUnready()).length > 0) return [];
      return ['store'];
    },
  };
}

/** The node, and some of the spaces whose events wait for it. */
function describeFailedNode({ node, spaceIds }: FailedNode): string {
  const shown = [...spaceIds].slice(0, shownSpacesMax);
  const more = spaceIds.size > shown.length ? ` and ${spaceIds.size - shown.length} more` : '';
  return `postgres node ${node} for spaces ${shown.join(', ')}${more}`;
}
