import type { Fault } from '../fault.ts';

/** SIGTERM to every service in turn, as for a new version. */
export const rollingRestart: Fault = {
  name: 'rolling-restart',
  row: 15,
  title: 'rolling restart (SIGTERM) at full load, two ingests and two writers',
  system: { ingests: 2, writers: 2 },
  unavailableMsMax: 1_000,
  async inject({ system, journal, thorough, random }) {
    const rejectedBefore = journal.statuses.get(503) ?? 0;
    for (let times = thorough ? 3 : 1; times > 0; times--) {
      for (const service of system.processes.filter(({ kind }) => kind === 'ingest' || kind === 'writer')) {
        service.kill('SIGTERM');
        await service.untilDown();
        const { code } = service.lastExit() ?? {};
        if (code !== 0) throw new Error(`${service.name} exited with code ${code} after SIGTERM`);
        await service.untilRunning();
        await journal.untilAccepted(random.between(1, 20));
      }
    }
    const rejected = (journal.statuses.get(503) ?? 0) - rejectedBefore;
    if (rejected > 0) throw new Error(`${rejected} requests were answered with 503`);
  },
};
