import type { Fault } from '../fault.ts';

/** Four of five batches repeat ids; the writer is killed, so that the queue redelivers messages too. */
export const repeats: Fault = {
  name: 'repeats',
  row: 16,
  title:
    'retries, overlapping batches, ids in several spaces, in upper case, out of order; the writer killed meanwhile',
  load: { repeatPercent: 80 },
  async inject({ system, journal, random, thorough }) {
    await journal.untilAccepted(random.between(50, 100));
    system.process('writer-1').kill('SIGKILL');
    await journal.untilAccepted(thorough ? 2_000 : 200);
  },
};
