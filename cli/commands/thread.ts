import type { Command } from 'commander';
import { wholeNumber } from '../arguments.ts';
import type { Host } from '../host.ts';
import { eventColumns, type ListedEvent, listEvents } from '../reads/list-events.ts';
import { addReadOptions, openReadApi, type ReadOptions } from '../reads/read-api.ts';
import { printRows } from '../reads/table.ts';

const limitDefault = 200;

/** Prints the newest events of a thread, in time order. */
export function addThreadCommand(program: Command, host: Host): void {
  const command = program
    .command('thread')
    .description('print the newest events of a thread in time order, read with a read key')
    .argument('<threadId>', 'the thread')
    .option('--limit <n>', 'most events to print', wholeNumber(1, 10_000), limitDefault);
  addReadOptions(command).action(async (threadId: string, options: ReadOptions & { limit: number }) => {
    const newest: ListedEvent[] = [];
    const api = openReadApi(host, options);
    for await (const event of listEvents(api, { threadId }, options.limit)) newest.push(event);
    await printRows(host, eventColumns, newest.toReversed());
  });
}
