import { Ban, ListFilter } from 'lucide-react';
import { useState } from 'react';
import type { Output } from '../../api/query.ts';
import { useIsNarrow } from '../../event-grid/use-is-narrow.ts';
import {
  attributePrefix,
  type Condition,
  isAttribute,
  labelOf,
  readConditions,
} from '../../filter/conditions.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCompact, formatCount, formatCounted } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import type { FacetField } from '../../search/completion.ts';
import { changeSettings, useSettings } from '../../settings/settings.ts';
import { keepsData, useSpaceQuery } from '../../space/use-space-query.ts';
import { describeText, ShownText } from '../../text/shown-text.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/loaded.tsx';

type Facet = Output<'events.facets'>[number];

/** Attributes that most programs send are shown in spaces that have them; so are the space's dimensions. */
const usual: FacetField[] = [
  ...(['state', 'model', 'tool', 'userId', 'agentId'] as const),
  ...([`${attributePrefix}environment`, `${attributePrefix}release`] as const),
];

/** Values shown before the others are asked for. */
const shownMax = 6;

/** Shows and hides the facets: beside the list, or in a narrow window over it. */
export function FacetsButton({ input }: { input: ListInput }) {
  const { showsFacets } = useSettings();
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        icon={ListFilter}
        size="small"
        aria-expanded={isNarrow ? isOpen : showsFacets}
        onClick={() => (isNarrow ? setOpen(true) : changeSettings({ showsFacets: !showsFacets }))}
        text="Facets"
      />
      <Dialog isOpen={isOpen && isNarrow} onClose={() => setOpen(false)} title="Facets">
        <Facets input={input} />
      </Dialog>
    </>
  );
}

/** The facets beside the list. */
export function FacetsPanel({ input }: { input: ListInput }) {
  const { showsFacets } = useSettings();
  const isNarrow = useIsNarrow();
  if (isNarrow || !showsFacets) return null;
  return (
    <section
      aria-label="Facets"
      tabIndex={0}
      className="w-58 shrink-0 overflow-y-auto border-line border-t border-r px-3 py-2"
    >
      <Facets input={input} />
    </section>
  );
}

/** The values that the events of the filter have, with their counts. A click on one filters by it. */
function Facets({ input: { text: _text, ...input } }: { input: ListInput }) {
  const { search } = useFilter();
  const dimensions = useSpaceQuery('charts.dimensions', {});
  const names = [...(dimensions.data ?? []), ...readConditions(search).map(({ field: name }) => ({ name }))];
  const attributes = names.flatMap(({ name }) => (isAttribute(name) ? [name] : []));
  const fields = [...new Set([...usual, ...attributes])];
  const query = useSpaceQuery(
    'events.facets',
    { ...input, fields },
    { ...keepsData, enabled: !dimensions.isPending },
  );
  return (
    <Loaded query={query} isSmall>
      {(facets) => (
        <div className={classes('flex flex-col gap-3', query.isPlaceholderData && 'opacity-60')}>
          {withFiltered(facets, readConditions(search)).map((facet) => (
            <FacetValues key={facet.field} facet={facet} />
          ))}
          {search.text !== undefined && (
            <p className="text-faint text-xs">Counted without the searched text.</p>
          )}
        </div>
      )}
    </Loaded>
  );
}

/** The field that a facet filters by. */
const fieldOf = (counted: FacetField) => (counted === 'model' || counted === 'tool' ? 'name' : counted);

/** Adds the values of the filter that no event has. */
function withFiltered(facets: readonly Facet[], conditions: readonly Condition[]): Facet[] {
  return facets.map((facet) => {
    const field = fieldOf(facet.field);
    const same = facets.filter((one) => fieldOf(one.field) === field);
    const known = new Set(same.flatMap(({ values }) => values.map(({ value }) => value)));
    const missing = conditions.filter((one) => one.field === field && !known.has(one.value));
    const added = same[0] === facet ? missing.map(({ value }) => ({ value, events: 0 })) : [];
    return { ...facet, values: [...facet.values, ...added] };
  });
}

function FacetValues({ facet: { field: counted, values, others, newest } }: { facet: Facet }) {
  const { search } = useFilter();
  const [isLong, setLong] = useState(false);
  const field = fieldOf(counted);
  const title = field === counted ? labelOf(field) : counted === 'model' ? 'Model' : 'Tool';
  const own = readConditions(search).filter((condition) => condition.field === field);
  const isMarked = (value: string) => own.some((one) => one.value === value);
  const shown = values.filter(({ value }, place) => isLong || place < shownMax || isMarked(value));
  if (values.length === 0) return null;
  return (
    <section>
      <h2 className="mb-0.5 flex items-baseline gap-2 text-xs">
        <ShownText text={title} className="label min-w-0 flex-1 truncate" />
        <span
          className="text-faint"
          title={newest === null ? 'All events are counted' : `Back to ${formatTime(newest.untilMs)}`}
        >
          {newest === null ? 'all' : `newest ${formatCount(newest.events)}`}
        </span>
      </h2>
      <ul>
        {shown.map(({ value, events }) => (
          <FacetValue key={value} title={title} field={field} own={own} value={value} events={events ?? 0} />
        ))}
      </ul>
      {shown.length < values.length ? (
        <Button
          look="quiet"
          size="small"
          className="-ml-0.5 text-xs"
          onClick={() => setLong(true)}
          text={`${values.length - shown.length} more`}
        />
      ) : (
        others > 0 && <p className="text-faint text-xs">{formatCounted(others, 'event')} with other values</p>
      )}
    </section>
  );
}

interface FacetValueProps {
  title: string;
  field: string;
  /** The conditions on the field. */
  own: readonly Condition[];
  value: string;
  events: number;
}

function FacetValue({ title, field, own, value, events }: FacetValueProps) {
  const { add, remove } = useFilter();
  const marked = own.find((one) => one.value === value);
  return (
    <li className="group/facet relative flex items-center">
      <button
        type="button"
        aria-pressed={marked !== undefined}
        title={describeText(value)}
        onClick={() => (marked ? remove(marked) : add({ field, value, isExcluded: false }))}
        className={classes(
          'flex h-6.5 min-w-0 flex-1 items-center gap-2 rounded-md px-1.5 text-left text-sm hover:bg-hover',
          marked && !marked.isExcluded && 'bg-accent-soft font-medium text-accent',
          marked?.isExcluded && 'text-bad line-through',
        )}
      >
        <span className="sr-only">
          {marked === undefined ? 'Only' : marked.isExcluded ? 'No longer without' : 'No longer only'} {
            title
          }{' '}
        </span>
        <ShownText text={value} className="min-w-0 flex-1 truncate" />
        <span className="text-muted text-xs tabular-nums group-focus-within/facet:mr-6 group-hover/facet:mr-6 max-md:mr-6">
          {formatCompact(events)}
        </span>
        <span className="sr-only"> {events === 1 ? 'event' : 'events'}</span>
      </button>
      {!marked && (
        <IconButton
          icon={Ban}
          label={`Without ${title} ${describeText(value)}`}
          onClick={() => add({ field, value, isExcluded: true })}
          className="absolute right-0 size-6 opacity-0 focus-visible:opacity-100 group-focus-within/facet:opacity-100 group-hover/facet:opacity-100 max-md:opacity-100"
        />
      )}
    </li>
  );
}
