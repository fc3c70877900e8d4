import type { Fault } from '../fault.ts';

/** Every service in turn is told to end, as for a new version. */
export const rollingRestart: Fault = {
  name: 'rolling-restart',
  row: 15,
  title: 'rolling restart (SIGTERM) at full load, two ingests and two writers',
  system: { ingests: 2, writers: 2 },
  unavailableMsMax: 1_000,
  async inject({ system, journal, thorough, random }) {
    const refusedBefore = journal.statuses.get(503) ?? 0;
    for (let times = thorough ? 3 : 1; times > 0; times--) {
      for (const part of system.parts.filter(({ kind }) => kind === 'ingest' || kind === 'writer')) {
        part.kill('SIGTERM');
        await part.untilDown();
        const { code } = part.lastExit() ?? {};
        if (code !== 0) throw new Error(`${part.name} ended with ${code} after SIGTERM`);
        await part.untilRunning();
        await journal.untilAccepted(random.between(1, 20));
      }
    }
    const refused = (journal.statuses.get(503) ?? 0) - refusedBefore;
    if (refused > 0) throw new Error(`${refused} requests were answered with 503`);
  },
};
