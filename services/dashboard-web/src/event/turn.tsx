import { ChevronDown, type LucideIcon } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { classes } from '../ui/classes.ts';

export function Turn({
  icon: Icon,
  title,
  tone,
  aside,
  children,
  isFolded: isFoldedFirst = false,
}: {
  icon: LucideIcon;
  title: ReactNode;
  tone: 'neutral' | 'user' | 'llm' | 'tool' | 'bad';
  aside?: ReactNode;
  children: ReactNode;
  /** Until the reader folds or unfolds it. */
  isFolded?: boolean;
}) {
  const [isChosen, setFolded] = useState<boolean>();
  const isFolded = isChosen ?? isFoldedFirst;
  const id = useId();
  return (
    <section className={classes('rounded-lg border bg-surface', borders[tone])} aria-labelledby={id}>
      <div className="flex min-h-9 items-center gap-2 px-3">
        <Icon aria-hidden className={classes('size-4 shrink-0', inks[tone])} />
        <h2 id={id} className="min-w-0 flex-1 truncate font-medium text-sm">
          {title}
        </h2>
        {aside}
        <button
          type="button"
          aria-expanded={!isFolded}
          id={`${id}-fold`}
          aria-label={isFolded ? 'Unfold' : 'Fold'}
          aria-labelledby={`${id}-fold ${id}`}
          onClick={() => setFolded(!isFolded)}
          className="grid size-6 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink"
        >
          <ChevronDown
            aria-hidden
            className={classes('size-4 transition-transform', isFolded && '-rotate-90')}
          />
        </button>
      </div>
      {!isFolded && <div className="border-line border-t px-3 py-2.5 text-sm">{children}</div>}
    </section>
  );
}

const borders = {
  neutral: 'border-line',
  user: 'border-line',
  llm: 'border-line border-l-2 border-l-llm-line',
  tool: 'border-line border-l-2 border-l-tool-line',
  bad: 'border-line border-l-2 border-l-bad-line',
};

const inks = {
  neutral: 'text-faint',
  user: 'text-accent',
  llm: 'text-llm',
  tool: 'text-tool',
  bad: 'text-bad',
};
