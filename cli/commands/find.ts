import { type Command, InvalidArgumentError } from 'commander';
import { type BatchRange, parseBatchId } from '../../event/segment/batch-id.ts';
import { requireConfig } from '../../platform/config.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { readOldestQueued } from '../../store/queue-state/watermark.ts';
import { readConfig, withDatabase } from '../database.ts';
import { locateBatch } from '../find/batch-location.ts';
import { type Host, printJson, printMessage } from '../host.ts';

/** `find`: locates the events of a request by the `Weir-Batch-Id` of its response (docs/api.md §4.3). */
export function addFindCommand(program: Command, host: Host): void {
  program
    .command('find')
    .description('locate the events of a request: one line for each range of its Weir-Batch-Id')
    .argument('<batch...>', 'the Weir-Batch-Id of its response', collectRanges)
    .action((ranges: BatchRange[]) =>
      withDatabase(host, async (database) => {
        let missing = 0;
        for (const range of ranges) {
          const location = await locateBatch(database, range);
          await printJson(host, location);
          missing += location.missing;
        }
        if (missing > 0) printMessage(host, await explainMissing(host, missing));
      }),
    );
}

/** The header's value is one argument or, unquoted in a shell, several. */
function collectRanges(text: string, before: BatchRange[] = []): BatchRange[] {
  const ranges = parseBatchId(text.replace(/,\s*$/, ''));
  if (ranges !== undefined) return [...before, ...ranges];
  throw new InvalidArgumentError(
    'It must be a Weir-Batch-Id, such as 0199a0c0-1234-7abc-8def-0123456789ab:0-2.',
  );
}

async function explainMissing(host: Host, missing: number): Promise<string> {
  const config = requireConfig(readConfig(host), ['NATS_URL']);
  await using nats = await connectQueue(config.NATS_URL, 'weir-cli-find');
  const oldest = await readOldestQueued(nats);
  const queue =
    oldest === undefined
      ? 'The queue is empty.'
      : `The oldest message in the queue is from ${oldest.toISOString()}: events accepted later may still be queued.`;
  const verb = missing === 1 ? 'event is' : 'events are';
  return `${missing} ${verb} not stored under this id. ${queue} Otherwise they were stored from an earlier request with the same ids, were erased, or have expired.`;
}
