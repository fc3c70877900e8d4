import { until } from '../../wait.ts';
import type { FaultRun } from '../fault.ts';

/**
 * Runs some steps, and looks at the requests that failed meanwhile.
 *
 * @returns why requests had no response.
 * @throws Error when a request was answered with 503.
 */
export async function findUnanswered(
  { journal }: Pick<FaultRun, 'journal'>,
  run: () => Promise<void>,
): Promise<string[]> {
  const { statuses, connectionErrors } = journal;
  const [refusedBefore, errorsBefore] = [statuses.get(503) ?? 0, connectionErrors.length];
  await run();
  const refused = (statuses.get(503) ?? 0) - refusedBefore;
  if (refused > 0) throw new Error(`${refused} requests were answered with 503`);
  return connectionErrors.slice(errorsBefore);
}

/**
 * Stops a service with SIGTERM, and starts it from another checkout. Resolves when it works again.
 *
 * @param root of the checkout; undefined for this one.
 */
export async function rollService({ system, journal }: FaultRun, name: string, root?: string): Promise<void> {
  const service = system.process(name);
  if (root === undefined) system.checkouts.delete(name);
  else system.checkouts.set(name, root);
  service.kill('SIGTERM');
  await service.untilDown();
  const { code } = service.lastExit() ?? {};
  if (code !== 0) throw new Error(`${name} exited with code ${code} after SIGTERM`);
  await service.untilRunning();
  const port = system.ingestPorts[Number(name.split('-')[1]) - 1];
  if (service.kind === 'ingest' && port !== undefined) await system.balancer?.untilReady(port);
  await journal.untilAccepted(10);
}

/** Waits until everything that is in the queue now is stored. */
export async function untilStored({ system }: FaultRun): Promise<void> {
  const target = (await readStreams(system.monitorUrls)).map(({ lastSequence }) => lastSequence);
  await until(
    async () =>
      (await readStreams(system.monitorUrls)).every(({ storedTo }, i) => storedTo >= (target[i] ?? 0)),
    60_000,
    'the queue is not stored',
  );
}

/** The streams of events of the only nats-server, in the order of their names. */
async function readStreams([url = '']: readonly string[]) {
  const response = await fetch(new URL('/jsz?streams=true&consumers=true', url));
  const { account_details: accounts } = (await response.json()) as {
    account_details: {
      stream_detail: {
        name: string;
        state: { last_seq: number };
        consumer_detail?: { ack_floor: { stream_seq: number } }[];
      }[];
    }[];
  };
  return (
    accounts
      .flatMap(({ stream_detail }) => stream_detail)
      // Writers consume streams of events only.
      .filter(({ consumer_detail: consumers = [] }) => consumers.length > 0)
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ state, consumer_detail: consumers = [] }) => ({
        lastSequence: state.last_seq,
        storedTo: Math.min(...consumers.map(({ ack_floor }) => ack_floor.stream_seq)),
      }))
  );
}
