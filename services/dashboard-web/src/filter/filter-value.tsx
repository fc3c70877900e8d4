import type { ReactNode } from 'react';
import { describeText } from '../text/marks.ts';
import { classes } from '../ui/classes.ts';
import { labelOf } from './fields.ts';
import { useFilterBy } from './use-filter-by.ts';

/** A value that filters the list on click; Alt-click excludes it. For values that have no page of their own. */
export function FilterValue({
  field,
  value,
  children,
  className,
}: {
  field: string;
  value: string;
  children: ReactNode;
  className?: string;
}) {
  const filterBy = useFilterBy();
  const shown = describeText(value);
  return (
    <button
      type="button"
      title={`${shown}\nClick to show only these, Alt-click to exclude them.`}
      aria-label={`Only events with ${describeText(labelOf(field))} ${shown}`}
      className={classes(
        'max-w-full truncate rounded-sm text-left hover:underline hover:decoration-edge',
        className,
      )}
      onClick={(click) => {
        click.stopPropagation();
        filterBy({ field, value, isExcluded: click.altKey });
      }}
    >
      {children}
    </button>
  );
}
