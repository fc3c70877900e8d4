import type { inferRouterOutputs } from '@trpc/server';
import type { Command } from 'commander';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import { parseTrace } from '../arguments.ts';
import { type Host, printJson, printLine } from '../host.ts';
import { addReadOptions, openReadApi, type ReadOptions } from '../reads/read-api.ts';
import { printRows, type TableColumn, withoutControls } from '../reads/table.ts';

type WholeEvent = inferRouterOutputs<AppRouter>['events']['get'];
type Reason = NonNullable<WholeEvent['costReason']>;

/** `event`: prints an event; on a terminal how its cost came about. */
export function addEventCommand(program: Command, host: Host): void {
  const command = program
    .command('event')
    .description(
      'print an event and how its cost came about, read with a read key: on a terminal the cost, in a pipe all as JSON',
    )
    .argument('<eventId>', 'the event', parseTrace);
  addReadOptions(command).action(async (id: string, options: ReadOptions) => {
    const event = await openReadApi(host, options).query('events', 'get', { id });
    if (!host.stdout.isTTY) return printJson(host, event);
    const { name, cost, costBound, costReason, flags } = event;
    if (costReason !== null) await printRows(host, columns, costReason.lines);
    const reasons = [describeCost(cost, costBound), ...describe(costReason), ...flags];
    await printLine(host, withoutControls(`${name ?? 'unnamed'}: ${reasons.join(', ')}`));
  });
}

const columns: readonly TableColumn<Reason['lines'][number]>[] = [
  { title: 'KIND', width: 18, cell: ({ kind }) => kind },
  { title: 'COUNT', width: 12, isNumber: true, cell: ({ count }) => count },
  { title: '$ A MILLION', width: 12, isNumber: true, cell: ({ price }) => price ?? 'no price' },
  { title: 'COST $', width: 16, isNumber: true, cell: ({ cost }) => cost },
  { title: 'TIER', width: 10, cell: ({ tier }) => tier },
  { title: 'INPUT', width: 9, cell: ({ inputAbove }) => inputAbove && `>${inputAbove}` },
  { title: 'BOUND', cell: ({ bound }) => (bound === 'exact' ? null : bound.replace('_', ' ')) },
];

function describeCost(cost: string | null, bound: WholeEvent['costBound']): string {
  if (cost === null) return 'no cost known';
  return bound === 'exact' ? `$${cost}` : `${bound.replace('_', ' ')} $${cost}`;
}

function describe(reason: Reason | null): string[] {
  if (reason === null) return [];
  const { reported, priced, price, tier, region, inputAbove } = reason;
  return [
    reported !== null && 'reported by the sender',
    reported !== null && priced !== null && `by the price $${priced}`,
    price !== null && describePrice(price),
    tier !== null && `tier ${tier}`,
    region !== null && `region ${region}`,
    inputAbove !== null && `input above ${inputAbove}`,
  ].filter((text) => text !== false);
}

function describePrice({ origin, model, validFrom, list }: NonNullable<Reason['price']>): string {
  const whose = { space: "the space's price", operator: "the operator's price", list: 'list price' }[origin];
  return `${whose} of ${model} (${list === null ? `from ${validFrom}` : `${list.source}, ${list.day}`})`;
}
