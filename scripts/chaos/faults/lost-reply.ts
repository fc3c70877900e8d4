import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { loseReply } from '../lost-reply.ts';
import { proxiesOf } from './links.ts';

const lossTimeoutMs = 20_000;

/** Postgres commits, and the writer never hears of it: it has to store the same again, and nothing may count twice. */
export const lostCommitReply: Fault = {
  name: 'lost-commit-reply',
  row: 10,
  title: 'the reply to a COMMIT of the writer lost with its connection',
  system: { proxied: true },
  unavailableMsMax: 3_000,
  async inject({ system, random, thorough }) {
    const proxy = proxiesOf(system).writer.postgres;
    try {
      for (let times = thorough ? 20 : 5; times > 0; times--) {
        // The statement that stores ends with a SELECT of one row; nothing else that the writer sends does.
        const lost = loseReply(proxy, (commandTag) => commandTag === 'SELECT 1');
        proxy.reset();
        const late = sleep(lossTimeoutMs, true, { ref: false });
        if (await Promise.race([lost.then(() => false), late])) throw new Error('no reply was lost');
        await sleep(random.between(0, 200));
      }
    } finally {
      proxy.makeReplyFilter = undefined;
    }
  },
};
