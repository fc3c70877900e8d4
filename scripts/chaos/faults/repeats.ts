import type { Fault } from '../fault.ts';

/** Four of five batches bring ids again; and the writer dies among them, so that the queue brings them again too. */
export const repeats: Fault = {
  name: 'repeats',
  row: 16,
  title:
    'retries, overlapping ones, ids in several spaces, in upper case, out of order; the writer killed among them',
  load: { repeatPercent: 80 },
  async inject({ system, journal, random, thorough }) {
    await journal.untilAccepted(random.between(50, 100));
    system.part('writer-1').kill('SIGKILL');
    await journal.untilAccepted(thorough ? 2_000 : 200);
  },
};
