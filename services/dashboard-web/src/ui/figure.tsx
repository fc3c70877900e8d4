import type { ReactNode } from 'react';
import { classes } from './classes.ts';

interface FigureProps {
  label: string;
  value: string;
  note?: ReactNode;
  title?: string;
  isBad?: boolean;
}

/** A number in a card of its own, in a `dl`. */
export function Figure({ label, value, note, title, isBad = false }: FigureProps) {
  return (
    <div className="card px-4 py-3">
      <dt className="label">{label}</dt>
      <dd>
        <span className={classes('font-semibold text-2xl tracking-tight', isBad && 'text-bad')} title={title}>
          {value}
        </span>
        {note !== undefined && <span className="block text-faint text-xs">{note}</span>}
      </dd>
    </div>
  );
}
