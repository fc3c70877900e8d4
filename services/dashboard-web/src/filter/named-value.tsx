import { ListFilter } from 'lucide-react';
import { SpaceLink, type SpacePage } from '../space/space.tsx';
import { describeText } from '../text/shown-text.tsx';
import { classes } from '../ui/classes.ts';
import { type Field, labelOf } from './conditions.ts';
import { useFilterBy } from './use-filter.ts';

/** What of an event its names open: charts of its type, and threads and traces at the event. */
interface NamedEvent {
  id: string;
  type: 'llm' | 'tool';
}

/** Fields whose values have a page of their own. */
export type NamedField = Extract<Field, 'name' | 'userId' | 'threadId' | 'traceId'>;

interface NamedValueProps {
  field: NamedField;
  value: string;
  event: NamedEvent;
  /** The button appears over the end of the value, on hover and focus, for cells of a list. */
  isFloating?: boolean;
  className?: string;
}

/** The name of a model, tool, user, thread or trace opens what it names. A button beside it filters by it. */
export function NamedValue({ field, value, event, isFloating = false, className }: NamedValueProps) {
  const { verb, page } = links[field];
  const shown = describeText(value);
  return (
    <span className="group/named relative flex min-w-0 items-center gap-1">
      <SpaceLink
        {...page(value, event)}
        title={shown}
        aria-label={`${verb} ${shown}`}
        className={classes('min-w-0 truncate rounded-sm hover:underline', className)}
        // A click on the row around it selects the event.
        onClick={(click) => click.stopPropagation()}
        text={value}
      />
      <FilterButton field={field} value={value} isFloating={isFloating} />
    </span>
  );
}

const links: Record<NamedField, { verb: string; page: (value: string, event: NamedEvent) => SpacePage }> = {
  name: {
    verb: 'Charts of',
    page: (name, { type }) => ({ page: 'charts', search: { type, name } }),
  },
  userId: { verb: 'Open user', page: (id) => ({ page: 'user', id }) },
  threadId: {
    verb: 'Open thread',
    page: (id, event) => ({ page: 'thread', id, search: { at: event.id } }),
  },
  traceId: {
    verb: 'Open trace',
    page: (id, event) => ({ page: 'trace', id, search: { peek: event.id } }),
  },
};

interface FilterButtonProps {
  field: string;
  value: string;
  isFloating: boolean;
}

/** Shows only the events with a value. */
export function FilterButton({ field, value, isFloating }: FilterButtonProps) {
  const filterBy = useFilterBy();
  const shown = describeText(value);
  return (
    <button
      type="button"
      title="Click to show only these, Alt-click to exclude them."
      aria-label={`Only events with ${labelOf(field)} ${shown}`}
      onClick={(click) => {
        click.stopPropagation();
        filterBy({ field, value, isExcluded: click.altKey });
      }}
      className={classes(
        'grid size-6 shrink-0 place-items-center rounded-md text-muted hover:text-accent',
        isFloating
          ? 'absolute right-0 bg-raised opacity-0 shadow-card group-hover/named:opacity-100 focus-visible:opacity-100'
          : 'hover:bg-hover',
      )}
    >
      <ListFilter aria-hidden className="size-3.5" />
    </button>
  );
}
