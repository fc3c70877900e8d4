import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { describeText } from '../text/marks.ts';
import { classes } from '../ui/classes.ts';
import { withCondition } from './conditions.ts';
import { labelOf } from './fields.ts';
import { useFilter } from './use-filter.ts';

/** A value that filters the list on click; Alt-click excludes it. */
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
  const { add } = useFilter();
  const navigate = useNavigate();
  const { spaceId = '', eventId } = useParams({ strict: false });
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
        const condition = { field, value, isExcluded: click.altKey };
        // On an event's page the filter opens the list.
        if (eventId === undefined) return add(condition);
        void navigate({
          to: '/s/$spaceId/events',
          params: { spaceId },
          search: withCondition({}, condition),
        });
      }}
    >
      {children}
    </button>
  );
}
