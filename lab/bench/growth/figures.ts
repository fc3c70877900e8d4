import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawGraph } from './graph.ts';

/** The parts. Each is one graph: growth-<part>.svg. */
const axes = {
  rate: { title: 'Storing events as a space grows', x: 'events in the space', y: 'events/s' },
  reads: { title: 'Reading as a space grows: p50', x: 'events in the space', y: 'ms' },
  bytes: { title: 'Bytes in Postgres for each event', x: 'events in the space', y: 'bytes' },
  sizes: {
    title: 'Storing events by their size, in the full database',
    x: 'bytes of an event',
    y: 'events/s',
  },
  spaces: {
    title: 'Storing 500 segments of one event in a statement, in the full database',
    x: 'spaces',
    y: 'events/s',
  },
  weeks: { title: 'Reading with empty weekly partitions: p50', x: 'weeks', y: 'ms' },
} as const;

/** A figure at one size of its part: rows, bytes of an event, spaces, or weeks. */
export interface Figure {
  readonly part: keyof typeof axes;
  readonly name: string;
  readonly at: number;
  readonly value: number;
}

/** The lists in the graphs; the table has all. */
const drawnReads = [
  'no filter',
  'name: frequent',
  'name: rare',
  'name: absent',
  'user: frequent',
  'trace',
  'get',
  'chart of 30 days',
];

/** The pictures and the figures as JSON. */
const pictures = fileURLToPath(new URL('../../../docs/pictures/growth-', import.meta.url));
const file = `${pictures}figures.json`;

/**
 * The figures of an earlier run that a run keeps: of parts that it has not measured, and when merging of
 * other sizes, too.
 */
export function mergeFigures(
  earlier: readonly Figure[],
  measured: readonly Figure[],
  isMerging: boolean,
): Figure[] {
  const isReplaced = ({ part, at }: Figure) =>
    measured.some((figure) => figure.part === part && (!isMerging || figure.at === at));
  const kept = earlier.filter((figure) => !isReplaced(figure));
  // Stable: figures of one size keep their order.
  return Object.keys(axes).flatMap((part) =>
    [...kept, ...measured].filter((figure) => figure.part === part).toSorted((a, b) => a.at - b.at),
  );
}

export function readFigures(): Figure[] {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Writes the figures as JSON, and draws a graph for each part. */
export function writeFigures(figures: readonly Figure[]): void {
  for (const [part, { title, x, y }] of Object.entries(axes)) {
    const own = figures.filter(
      (figure) => figure.part === part && (y !== 'ms' || drawnReads.includes(figure.name)),
    );
    const series = [...Map.groupBy(own, ({ name }) => name)].map(([name, all]) => ({
      name,
      points: all.map(({ at, value }) => [at, value] as const),
    }));
    if (series.length > 0)
      writeFileSync(`${pictures}${part}.svg`, drawGraph({ title, xTitle: x, yTitle: y, series }));
  }
  const lines = figures.map((figure) => JSON.stringify(figure));
  writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
}

/** A line for each name, a column for each size. */
export function renderFigures(figures: readonly Figure[]): string {
  return Object.entries(axes)
    .map(([part, { title, x, y }]) => {
      const own = figures.filter((figure) => figure.part === part);
      const sizes = [...new Set(own.map(({ at }) => at))];
      const lines = [...Map.groupBy(own, ({ name }) => name)].map(([name, all]) => {
        const cells = sizes.map((size) => all.find(({ at }) => at === size)?.value.toFixed(1) ?? '');
        return [name.padEnd(34), ...cells.map((cell) => cell.padStart(12))].join('');
      });
      const head = [x.padEnd(34), ...sizes.map((size) => size.toLocaleString('en').padStart(12))].join('');
      return [`${title}, ${y}`, head, ...lines].join('\n');
    })
    .join('\n\n');
}
