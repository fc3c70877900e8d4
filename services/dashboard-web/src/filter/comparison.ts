import type { Measure } from './conditions.ts';

/** A condition on a number, as the API takes it. */
export interface Comparison {
  measure: Measure;
  operator: '>' | '>=' | '<' | '<=';
  value: number;
}

/** The units of a measure, in milliseconds, tokens and dollars. */
const units: Record<Measure, Record<string, number>> = {
  duration: { '': 1, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 },
  tokens: { '': 1, k: 1_000, m: 1_000_000 },
  cost: { '': 1 },
};

export const comparisonExamples: Record<Measure, readonly string[]> = {
  duration: ['>1s', '>10s', '>1m', '<100ms', '1s..5s'],
  tokens: ['>1k', '>10k', '>50k', '<100', '1k..5k'],
  cost: ['>0.01', '>0.1', '>1', '<0.001', '0.1..1'],
};

const typedNames: Record<Measure, string> = { duration: 'took', tokens: 'tokens', cost: 'cost' };

/** `>10s`, `<=50k`, or a range with both ends, `1s..5s`. @returns an error message for another text. */
export function parseComparison(measure: Measure, text: string): Comparison[] | string {
  const [, operator, amount = ''] = /^(>=?|<=?)(.+)$/.exec(text) ?? [];
  const ends: [Comparison['operator'], string][] =
    operator === undefined
      ? text.split('..').map((end, place) => [place === 0 ? '>=' : '<=', end])
      : [[operator as Comparison['operator'], amount]];
  const parsed = ends.map(([one, end]) => ({ measure, operator: one, value: parseAmount(measure, end) }));
  const isRange = operator !== undefined || ends.length === 2;
  if (isRange && parsed.every(({ value }) => Number.isFinite(value))) return parsed;
  const examples = comparisonExamples[measure].map((example) => `${typedNames[measure]}:${example}`);
  return `“${text}” is not a comparison. Write ${examples[1]}, ${examples[3]} or ${examples[4]}.`;
}

function parseAmount(measure: Measure, text: string): number {
  const [, digits = '', unit = ''] = /^\$?(\d+(?:\.\d+)?|\.\d+)([a-z]*)$/i.exec(text.trim()) ?? [];
  return digits === '' ? Number.NaN : Number(digits) * (units[measure][unit.toLowerCase()] ?? Number.NaN);
}
