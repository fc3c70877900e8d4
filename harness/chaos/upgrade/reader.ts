import { TRPCClientError } from '@trpc/client';
import { openDashboardClient } from '../../system/dashboard-client.ts';
import { until } from '../../wait.ts';
import { repeat } from './senders.ts';

/** A user of the dashboard who reads all the time, with one session. */
export interface Reader {
  /** Waits for the response to a request that is sent after the call. @throws Error after a time-out. */
  untilAnswered(): Promise<void>;
  /** @throws Error with the first wrong response. */
  stop(): Promise<void>;
}

interface Account {
  dashboardUrl: string;
  email: string;
  password: string;
}

/** Signs in, and reads lists, an event and a chart in turn until it is stopped. */
export async function startReader(account: Account): Promise<Reader> {
  const { trpc } = await openDashboardClient(account);
  let answered = 0;
  const wrong: string[] = [];
  const read = async () => {
    const { events } = await trpc.events.list.query({ limit: 5 });
    const [first] = events;
    if (first === undefined) return;
    await trpc.events.get.query({ id: first.id });
    const { buckets } = await trpc.events.histogram.query({
      from: Date.now() - 60_000,
      to: Date.now(),
      buckets: 10,
    });
    if (buckets.length > 0) answered += 1;
  };
  const stop = repeat(() =>
    read().catch((error: unknown) => {
      // No response: the only dashboard API restarts.
      const isAnswer = error instanceof TRPCClientError && error.data !== undefined && error.data !== null;
      if (isAnswer) wrong.push(error.message);
    }),
  );
  return {
    async untilAnswered() {
      const target = answered + 2;
      const answer = () => `the dashboard does not answer: ${wrong.at(-1) ?? 'no connection'}`;
      await until(() => answered >= target, 60_000, answer);
    },
    async stop() {
      await stop();
      if (wrong.length > 0) throw new Error(`the dashboard answered ${wrong.length} times with: ${wrong[0]}`);
    },
  };
}
