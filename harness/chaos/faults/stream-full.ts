import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../wait.ts';
import type { Fault } from '../fault.ts';

/** The number of 503 responses that shows that the stream is full. */
const rejectionsMin = 20;
const fullTimeoutMs = 60_000;

/** The writer is paused until the stream is full. */
export const streamFull: Fault = {
  name: 'stream-full',
  row: 8,
  title: 'stream full, the writer paused',
  system: { streamBytesMax: 2 * 1024 ** 2 },
  async inject({ system, journal, random, thorough }) {
    const before = journal.statuses.get(503) ?? 0;
    system.process('writer-1').kill('SIGSTOP');
    try {
      await until(
        () => (journal.statuses.get(503) ?? 0) >= before + rejectionsMin,
        fullTimeoutMs,
        'the stream did not become full',
      );
      await sleep(random.between(0, thorough ? 20_000 : 1_000));
    } finally {
      system.process('writer-1').kill('SIGCONT');
    }
  },
};
