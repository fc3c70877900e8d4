import { setTimeout as sleep } from 'node:timers/promises';
import { loseCommitReply } from '../../network/lost-commit-reply.ts';
import { requireProxies } from '../../system/service-proxies.ts';
import type { Fault } from '../fault.ts';

const lossTimeoutMs = 20_000;

/**
 * Postgres commits, but the writer gets no reply: it stores the same events again, and nothing may be counted
 * twice.
 */
export const lostCommitReply: Fault = {
  name: 'lost-commit-reply',
  row: 10,
  title: 'the reply to a COMMIT of the writer lost with its connection',
  system: { proxied: true },
  unavailableMsMax: 3_000,
  async inject({ system, random, thorough }) {
    const proxy = requireProxies(system).writer.postgres;
    try {
      for (let times = thorough ? 20 : 5; times > 0; times--) {
        // Only the store statement's command tag is SELECT 1.
        const lost = loseCommitReply(proxy, (commandTag) => commandTag === 'SELECT 1');
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
