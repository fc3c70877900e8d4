import { type Command, InvalidArgumentError, Option } from 'commander';
import { dayMs } from '../../platform/time.ts';
import { parseTime, wholeNumber } from '../arguments.ts';
import type { Host } from '../host.ts';
import { addReadOptions, openReadApi, type ReadApi, type ReadOptions } from '../reads/read-api.ts';
import { printRows, type TableColumn } from '../reads/table.ts';

const groups = ['none', 'type', 'model', 'tool', 'source', 'agent', 'user'] as const;
const steps = ['minute', '5minutes', 'hour', 'day', 'week', 'month'] as const;
type Group = (typeof groups)[number] | `attr.${string}`;

function parseGroup(text: string): Group {
  const group = groups.find((one) => one === text);
  if (group !== undefined) return group;
  if (text.startsWith('attr.')) return `attr.${text.slice('attr.'.length)}`;
  throw new InvalidArgumentError(`Choose ${groups.join(', ')} or attr.KEY.`);
}

interface ChartOptions extends ReadOptions {
  from?: number;
  to?: number;
  step: (typeof steps)[number];
  groupBy: Group;
  groups: number;
}

const groupHint =
  'one row for each: none, type, model, tool, source, agent; if the space declares them, user or attr.KEY';

export function addChartsCommand(program: Command, host: Host): void {
  const command = program
    .command('charts')
    .description('print events, errors, tokens and durations of a time range by group, read with a read key')
    .option(
      '--from <time>',
      'start: ISO 8601, or milliseconds since 1970 (default: a day before --to)',
      parseTime,
    )
    .option('--to <time>', 'end, exclusive (default: now)', parseTime)
    .addOption(new Option('--step <step>', 'the size of the buckets').choices(steps).default('hour'))
    .option('--group-by <what>', groupHint, parseGroup, 'model')
    .option('--groups <n>', 'most groups; the others are added up', wholeNumber(1, 50), 20);
  addReadOptions(command).action(async (options: ChartOptions) => {
    await printRows(host, columns, await readSeries(openReadApi(host, options), options));
  });
}

type Series = Awaited<ReturnType<typeof readSeries>>[number];

async function readSeries(
  api: ReadApi,
  { to = Date.now(), from = to - dayMs, step, groupBy, groups }: ChartOptions,
) {
  const chart = await api.query('charts', 'events', { from, to, step, groupBy, groupsMax: groups });
  return chart.series.map(({ group, total, points }) => ({
    group,
    total,
    points: points.map(({ bucket, ...point }) => ({ startMs: chart.starts[bucket], ...point })),
  }));
}

const number = (title: string, read: (series: Series) => number | null): TableColumn<Series> => ({
  title,
  width: 12,
  isNumber: true,
  cell: (series) => {
    const value = read(series);
    return value === null ? null : Math.round(value);
  },
});

const columns: readonly TableColumn<Series>[] = [
  { title: 'GROUP', width: 32, cell: ({ group }) => group ?? '(others)' },
  number('EVENTS', ({ total }) => total.events),
  number('ERRORS', ({ total }) => total.errors),
  number('P50 MS', ({ total }) => total.p50Ms),
  number('P95 MS', ({ total }) => total.p95Ms),
  number('INPUT', ({ total }) => total.inputTokens),
  number('OUTPUT', ({ total }) => total.outputTokens),
];
