import { Bot, CircleX, Wrench } from 'lucide-react';
import { formatDuration, formatMoney } from '../format/number.ts';
import { formatInCard } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { ShownText } from '../text/shown-text.tsx';
import { classes } from '../ui/classes.ts';
import { Preview } from './columns.tsx';
import { MenuButton, type RowProps } from './grid-row.tsx';

/** An event in two lines, for narrow windows: what was called, when, how long and for what, then the preview. */
export function EventCard({ event, index, top, isSelected, onSelect, onMenu }: RowProps) {
  const { zone } = useSettings();
  const { type, state, name, cost, durationMs, startTimeMs } = event;
  const Icon = type === 'llm' ? Bot : Wrench;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j, k and Enter do the same.
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus.
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      onClick={() => onSelect(event)}
      className={classes(
        'absolute inset-x-0 grid h-16 cursor-default grid-cols-[minmax(0,1fr)_auto] grid-rows-2 items-center gap-x-2 border-line border-b py-1.5 pr-2 pl-4 text-sm',
        isSelected && 'bg-accent-soft',
      )}
      style={{ top }}
    >
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus. */}
      <div role="gridcell" className="flex min-w-0 items-center gap-1.5">
        <Icon
          aria-label={type === 'llm' ? 'LLM call' : 'Tool call'}
          className={classes('size-4 shrink-0', type === 'llm' ? 'text-llm' : 'text-tool')}
        />
        <span className="truncate font-medium">
          <ShownText text={name ?? 'unnamed'} />
        </span>
        {state === 'error' && <CircleX aria-label="Error" className="size-3.5 shrink-0 text-bad" />}
        <span className="ml-auto shrink-0 text-muted">{formatDuration(durationMs)}</span>
        {cost !== null && <span className="shrink-0 text-muted">{formatMoney(Number(cost))}</span>}
      </div>
      {/* biome-ignore lint/a11y/useFocusableInteractive: the button has the focus. */}
      <div role="gridcell" className="row-span-2">
        <MenuButton onMenu={onMenu} />
      </div>
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus. */}
      <div role="gridcell" className="flex min-w-0 items-baseline gap-2 whitespace-nowrap">
        <span className="shrink-0 text-faint text-xs">{formatInCard(startTimeMs, Date.now(), zone)}</span>
        <Preview event={event} />
      </div>
    </div>
  );
}
