import { TickBox } from '../../compare/ticked-events.tsx';
import { tokensOf } from '../../event/event-query.ts';
import { Preview } from '../../event-grid/columns.tsx';
import { formatCompact } from '../../format/number.ts';
import { formatCost } from '../../format/priced.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { ErrorIcon, TypeIcon } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { GridCell } from '../../ui/grid-cell.tsx';
import type { TraceEvent } from './trace-rows.ts';

export const indentPx = 14;

/** The cell of a name, and the width of what follows the bar, in all rows. */
export const nameCell =
  'flex h-full w-[42%] max-w-lg shrink-0 items-center gap-1.5 border-line border-r pr-2 pl-4 md:pl-6';
export const numbersWidth = 'w-9 shrink-0 md:w-11 lg:w-46';

const inferredBy: Partial<Record<NonNullable<TraceEvent['parent']>['by'], string>> = {
  tool_call: 'Inferred: the call above asked for this tool.',
  containment: 'Inferred: it ran within the time of the call above.',
};

export function EventName({ event, depth }: { event: TraceEvent; depth: number }) {
  return (
    <GridCell className={nameCell} title={event.parent?.isInferred ? inferredBy[event.parent.by] : undefined}>
      <TypeIcon type={event.type} className="size-3.5" style={{ marginLeft: depth * indentPx }} />
      <ShownText
        text={event.name ?? 'unnamed'}
        className={classes('truncate md:shrink-0', event.parent?.isInferred && 'italic')}
      />
      {event.state === 'error' && <ErrorIcon />}
      <span className="flex min-w-0 pl-1 text-xs whitespace-nowrap max-md:hidden">
        <Preview event={event} />
      </span>
    </GridCell>
  );
}

/** The box compares the call with another event. */
export function EventNumbers({ event }: { event: TraceEvent }) {
  const { cost, costBound } = event;
  const tokens = tokensOf(event);
  const cell = 'flex items-center justify-end text-muted text-xs max-lg:hidden';
  return (
    <div role="presentation" className={`flex ${numbersWidth}`}>
      <GridCell title="Tokens" className={`${cell} w-14`}>
        {tokens !== null && formatCompact(tokens)}
      </GridCell>
      <GridCell title="Cost" className={`${cell} w-20`}>
        {cost !== null && formatCost({ cost, bound: costBound })}
      </GridCell>
      <GridCell className="ml-auto pr-2 pl-1 md:pr-4">
        <TickBox event={event} />
      </GridCell>
    </div>
  );
}
