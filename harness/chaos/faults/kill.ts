import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

/** `kill -9` of one process; in a thorough run four times, every two to five seconds. */
function kill(name: string, title: string): Fault {
  return {
    name: `kill-${name.replace(/-\d$/, '')}`,
    row: 1,
    title,
    async inject({ system, random, thorough }) {
      for (let times = thorough ? 4 : 1; times > 0; times--) {
        system.process(name).kill('SIGKILL');
        await system.process(name).untilDown();
        if (times > 1) await sleep(random.between(2_000, 5_000));
      }
    },
  };
}

export const killIngest = kill('ingest-1', 'kill -9 of ingest');
export const killWriter = kill('writer-1', 'kill -9 of the writer');
export const killNats = kill('nats-1', 'kill -9 of nats-server');
export const killPostgres = kill('postgres', 'kill -9 of Postgres');
