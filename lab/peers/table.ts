import { median } from '../median.ts';
import type { LoadOptions, Measured } from './load.ts';
import type { Peer } from './peer.ts';

/** Peers under the same load. */
export interface Comparison {
  input: string;
  load: Omit<LoadOptions, 'seconds'>;
  /** Weir first. */
  peers: readonly Peer[];
}

export interface Result {
  comparison: Comparison;
  peer: Peer;
  rounds: Measured[];
}

const columns = ['what', 'version', 'answers after', 'stored per second', 'Weir', 'bytes each'];

/** Renders the medians of all rounds as tables of Markdown, one for each input. */
export function renderComparison(results: readonly Result[]): string {
  return [...Map.groupBy(results, ({ comparison }) => comparison)]
    .map(([comparison, group]) => renderTable(comparison, group))
    .join('\n\n');
}

function renderTable({ input }: Comparison, results: readonly Result[]): string {
  const rates = results.map(({ rounds }) => median(rounds.map(({ stored, seconds }) => stored / seconds)));
  const rows = results.map(({ peer, rounds }, i) => {
    const stored = rounds.reduce((sum, round) => sum + round.stored, 0);
    const bytes = rounds.reduce((sum, round) => sum + round.bytes, 0);
    const rate = rates[i] ?? Number.NaN;
    const ratio = i === 0 ? '' : `${format((rates[0] ?? Number.NaN) / rate, 1)} ×`;
    return [peer.name, peer.version, peer.answersAfter, format(rate), ratio, format(bytes / stored)];
  });
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [`**${input}**`, '', ...lines].join('\n');
}

const format = (value: number, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits });
