import type { Command } from 'commander';
import { parseTrace } from '../arguments.ts';
import { type Host, printMessage } from '../host.ts';
import { eventColumns } from '../reads/list-events.ts';
import { addReadOptions, openReadApi, type ReadOptions } from '../reads/read-api.ts';
import { printRows } from '../reads/table.ts';

export function addTraceCommand(program: Command, host: Host): void {
  const command = program
    .command('trace')
    .description('print the events of a trace in time order, read with a read key')
    .argument('<traceId>', 'the trace', parseTrace);
  addReadOptions(command).action(async (traceId: string, options: ReadOptions) => {
    const trace = await openReadApi(host, options).query('traces', 'get', { traceId });
    const depths = depthsOf(trace.events);
    const columns = eventColumns.map((column) =>
      column.title === 'NAME'
        ? {
            ...column,
            cell: (event: (typeof trace.events)[number]) =>
              '· '.repeat(depths.get(event.id) ?? 0) + (event.name ?? ''),
          }
        : column,
    );
    await printRows(host, columns, trace.events);
    if (!trace.isComplete)
      printMessage(host, `The trace has more events: these are the newest ${trace.eventsMax}.`);
  });
}

function depthsOf(events: readonly { id: string; parent: { id: string } | null }[]): Map<string, number> {
  const parents = new Map(events.map(({ id, parent }) => [id, parent?.id]));
  const depths = new Map<string, number>();
  for (const { id } of events) {
    const above = new Set<string>();
    for (
      let at = parents.get(id);
      at !== undefined && parents.has(at) && !above.has(at);
      at = parents.get(at)
    )
      above.add(at);
    depths.set(id, above.size);
  }
  return depths;
}
