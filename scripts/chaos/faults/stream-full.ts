import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

/** Answers with 503 that tell that the stream is full, and not only for a moment. */
const refusalsMin = 20;
const fullTimeoutMs = 60_000;

/** The writer stands still until the stream takes nothing more. */
export const streamFull: Fault = {
  name: 'stream-full',
  row: 8,
  title: 'stream full, the writer paused',
  system: { streamBytesMax: 2 * 1024 ** 2 },
  async inject({ system, journal, random, thorough }) {
    const before = journal.statuses.get(503) ?? 0;
    const deadlineMs = performance.now() + fullTimeoutMs;
    system.part('writer-1').kill('SIGSTOP');
    try {
      while ((journal.statuses.get(503) ?? 0) < before + refusalsMin) {
        if (performance.now() > deadlineMs) throw new Error('the stream did not become full');
        await sleep(20);
      }
      await sleep(random.between(0, thorough ? 20_000 : 1_000));
    } finally {
      system.part('writer-1').kill('SIGCONT');
    }
  },
};
