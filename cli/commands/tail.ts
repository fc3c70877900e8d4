import type { Command } from 'commander';
import { wholeNumber } from '../arguments.ts';
import type { Host } from '../host.ts';
import { addFilterOptions, type FilterOptions, toFilter } from '../reads/filter-options.ts';
import { followEvents } from '../reads/follow.ts';
import { eventColumns, type ListedEvent } from '../reads/list-events.ts';
import { addReadOptions, openReadApi, type ReadOptions } from '../reads/read-api.ts';
import { printRows } from '../reads/table.ts';

export function addTailCommand(program: Command, host: Host): void {
  const command = program
    .command('tail')
    .description('print events as they are stored, read with a read key');
  addFilterOptions(addReadOptions(command))
    .option('--limit <n>', 'end after so many events', wholeNumber(1))
    .action(async (options: FilterOptions & ReadOptions & { limit?: number }) => {
      const events = followEvents(host, openReadApi(host, options), toFilter(options));
      await printRows(host, eventColumns, takeFirst(events, options.limit ?? Number.POSITIVE_INFINITY));
    });
}

async function* takeFirst(events: AsyncIterable<ListedEvent>, limit: number): AsyncGenerator<ListedEvent> {
  let count = 0;
  for await (const event of events) {
    yield event;
    if (++count >= limit) return;
  }
}
