import type { UnsupportedFault } from './chaos.ts';
import type { Fault } from './fault.ts';
import type { Round } from './round.ts';

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const sum = (rounds: readonly Round[], of: (round: Round) => number) =>
  String(rounds.reduce((total, round) => total + of(round), 0));
const longest = (rounds: readonly Round[], of: (round: Round) => number) =>
  seconds(Math.max(...rounds.map(of)));

const columns: readonly [string, (fault: Fault, rounds: readonly Round[]) => string][] = [
  ['#', (fault) => String(fault.row)],
  ['fault', (fault) => `${fault.title}${fault.mustLose ? ' (control: must lose)' : ''}`],
  ['times', (_, rounds) => String(rounds.length)],
  ['202s', (_, rounds) => sum(rounds, (round) => round.acceptedBatches)],
  ['unknown', (_, rounds) => sum(rounds, (round) => round.unknownOutcomes)],
  ['lost', (_, rounds) => sum(rounds, (round) => round.lost)],
  ['duplicated', (_, rounds) => sum(rounds, (round) => round.duplicated)],
  ['miscounted', (_, rounds) => sum(rounds, (round) => round.miscounted)],
  ['longest without a 202', (_, rounds) => longest(rounds, (round) => round.unavailableMs)],
  ['heal to 202', (_, rounds) => longest(rounds, (round) => round.recoveryMs)],
  ['drained in', (_, rounds) => longest(rounds, (round) => round.drainMs)],
  ['result', (_, rounds) => (rounds.every((round) => round.violations.length === 0) ? 'passed' : 'FAILED')],
];

/** The results of a run as a Markdown table: one row per fault, followed by the skipped faults. */
export function renderTable(rounds: readonly Round[], unsupported: readonly UnsupportedFault[]): string {
  const byFault = [...Map.groupBy(rounds, (round) => round.fault)].sort(([a], [b]) => a.row - b.row);
  const cells = [
    columns.map(([title]) => title),
    ...byFault.map(([fault, own]) => columns.map(([, show]) => show(fault, own))),
  ];
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  const skipped = unsupported.map(
    ({ fault, reason }) => `- ${fault.row}, ${fault.title}: skipped, ${reason}`,
  );
  return [...lines, ...(skipped.length > 0 ? ['', ...skipped] : [])].join('\n');
}

/** The notes of all rounds as a list, each once; empty when there are none. */
export function renderNotes(rounds: readonly Round[]): string {
  const notes = new Set(
    rounds.flatMap(({ fault, notes }) => notes.map((note) => `- ${fault.name}: ${note}`)),
  );
  return notes.size === 0 ? '' : `${[...notes].join('\n')}\n\n`;
}

/** The result of one round on one line, followed by its violations. */
export function renderRound({ fault, violations, ...round }: Round): string {
  const figures = [
    `${round.acceptedBatches} accepted`,
    `${round.unknownOutcomes} unknown`,
    `${round.lost} lost`,
    `${Math.round(round.unavailableMs)} ms without a 202`,
    `recovered in ${Math.round(round.recoveryMs)} ms`,
    `drained in ${Math.round(round.drainMs)} ms`,
    `took ${seconds(round.totalMs)}`,
  ];
  const result = violations.length === 0 ? 'passed' : `FAILED\n    ${violations.join('\n    ')}`;
  return `${fault.name}: ${figures.join(', ')}: ${result}`;
}
