/** A measurement and its budget. */
export interface WebFigure {
  name: string;
  value: number;
  /** Undefined for a figure that only explains the one above it. */
  limit?: number;
  /** The limit is a minimum instead of a maximum. */
  isLeast?: boolean;
  unit: string;
}

export function renderFigures(figures: readonly WebFigure[]): string {
  const lines = figures.map(({ name, value, limit, isLeast = false, unit }) => {
    const shown = `${name.padEnd(52)}${`${render(value)} ${unit}`.padEnd(12)}`;
    if (limit === undefined) return shown.trimEnd();
    // NaN, for a figure that was not measured, fails both comparisons.
    const isMet = isLeast ? value >= limit : value <= limit;
    return `${shown}${isLeast ? 'at least' : 'at most'} ${limit} ${unit}${isMet ? '' : '  MISSED'}`.trimEnd();
  });
  const missed = lines.filter((line) => line.endsWith('MISSED')).length;
  return `${lines.join('\n')}\n${missed === 0 ? 'Every budget is met.' : `${missed} missed.`}`;
}

export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function render(value: number): string {
  return value < 20 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value));
}
