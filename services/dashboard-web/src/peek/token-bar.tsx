import type { Usage } from '../event/event-text.ts';
import { formatCount } from '../format/number.ts';
import { classes } from '../ui/classes.ts';

interface Part {
  label: string;
  tokens: number;
  color: string;
}

export function TokenBar({ usage }: { usage: Usage }) {
  const parts = partsOf(usage).filter(({ tokens }) => tokens > 0);
  const sum = parts.reduce((total, { tokens }) => total + tokens, 0);
  if (sum === 0) return null;
  return (
    <div>
      <div className="flex h-2 gap-px overflow-hidden rounded-full" aria-hidden>
        {parts.map(({ label, tokens, color }) => (
          <div key={label} className={classes('h-full min-w-1', color)} style={{ flexGrow: tokens }} />
        ))}
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {parts.map(({ label, tokens, color }) => (
          <div key={label} className="flex items-center gap-1.5">
            <span aria-hidden className={classes('size-2 rounded-xs', color)} />
            <dt className="text-muted">{label}</dt>
            <dd className="font-medium">{formatCount(tokens)}</dd>
          </div>
        ))}
        {usage.total !== undefined && (
          <div className="flex items-center gap-1.5">
            <dt className="text-muted">Total</dt>
            <dd className="font-medium">{formatCount(usage.total)}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** Cached tokens are a part of the input, reasoning tokens one of the output. */
function partsOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage): Part[] {
  return [
    { label: 'Input', tokens: Math.max(0, input - cacheRead - cacheWrite), color: 'bg-accent' },
    { label: 'Cache read', tokens: cacheRead, color: 'bg-tool-line' },
    { label: 'Cache write', tokens: cacheWrite, color: 'bg-good' },
    { label: 'Output', tokens: Math.max(0, output - reasoning), color: 'bg-llm-line' },
    { label: 'Reasoning', tokens: reasoning, color: 'bg-warn' },
  ];
}
