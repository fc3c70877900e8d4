import type { MediaInit } from '../../../platform/queue/group.ts';
import type { OwnSpan } from '../../../platform/tracing/own-spans.ts';
import type { Principal } from '../admit/api-key-cache.ts';
import type { KeyUses } from '../admit/key-uses.ts';
import type { Quota } from '../admit/quota.ts';
import { detachBuffer } from '../body/detach-buffer.ts';
import type { ReadBatch } from '../read/batch-reader.ts';
import type { Committed, Committer } from './committer.ts';
import { batchOfNodes, type CompressedBatch, compressBatch } from './compressed-batch.ts';

interface CommitDependencies {
  committer: Committer;
  quota: Quota;
  keyUses: KeyUses;
}

interface AcceptedRequest {
  principal: Principal;
  receivedAtMs: number;
  batches: readonly Required<ReadBatch>[];
  nodes: readonly string[];
  notes: readonly string[];
  media: readonly MediaInit[];
  span: OwnSpan | undefined;
}

/**
 * Makes a request durable. Settles when all of its batches have settled, because the caller then reuses their
 * memory.
 * @returns one element for each message.
 */
export async function commitRequest(
  dependencies: CommitDependencies,
  accepted: AcceptedRequest,
): Promise<Committed[]> {
  const { principal, receivedAtMs: atMs, batches, nodes, notes, media, span } = accepted;
  const compressing = batches
    .filter(({ projection }) => projection.eventCount > 0)
    .map(({ projection, body }) => compressBatch(principal, projection, { body, atMs }));
  const ofNodes = [
    ...nodes.map((json) => batchOfNodes(principal, { nodes: json, atMs })),
    ...notes.map((json) => batchOfNodes(principal, { notes: json, atMs })),
    ...media.map((one) => batchOfNodes(principal, { media: one, atMs })),
  ];
  const outcomes = await Promise.allSettled(
    [...compressing, ...ofNodes].map(async (compressed) => {
      const batch = span === undefined ? await compressed : { ...(await compressed), span };
      return commit(dependencies, { principal, atMs, batch });
    }),
  );
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

async function commit(
  { committer, quota, keyUses }: CommitDependencies,
  { principal, atMs, batch }: { principal: Principal; atMs: number; batch: CompressedBatch },
): Promise<Committed[]> {
  const messages = await committer.commit(batch);
  // The published message holds a copy.
  if (batch.compressed !== undefined) detachBuffer(batch.compressed);
  for (const { eventCount, isRepeat } of messages) {
    if (isRepeat) keyUses.noteRepeats(principal, eventCount, atMs);
  }
  if (principal.monthlyEventLimit === null || batch.eventCount === 0) return messages;
  const { spaceId } = principal;
  await Promise.all(
    messages.map(({ eventCount, position }) => quota.noteAccepted({ spaceId, events: eventCount, position })),
  );
  return messages;
}
