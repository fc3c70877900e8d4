import { ShownText } from '../text/shown-text.tsx';
import { classes } from '../ui/classes.ts';
import type { CompletionOption } from './completion.ts';

/** The options below a search field, which keeps the focus. */
export function CompletionList({
  id,
  options,
  active,
  onAccept,
}: {
  id: string;
  options: readonly CompletionOption[];
  /** The place of the highlighted option; -1 without one. */
  active: number;
  onAccept: (option: CompletionOption) => void;
}) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Completions"
      className="absolute top-9 left-0 z-20 max-h-72 w-full max-w-md overflow-auto rounded-md border border-line bg-surface py-1 shadow-card"
    >
      {options.map((option, place) => (
        <div
          key={option.label}
          id={optionId(id, place)}
          role="option"
          aria-selected={place === active}
          tabIndex={-1}
          ref={place === active ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
          // Keeps the focus in the field, whose blur closes the list.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onAccept(option)}
          onKeyDown={() => undefined}
          className={classes(
            'flex h-8 cursor-default items-center gap-3 px-3 text-sm hover:bg-hover',
            place === active && 'bg-accent-soft text-accent',
          )}
        >
          <span className="truncate font-mono text-[0.8rem]">
            <ShownText text={option.label} />
          </span>
          {option.detail !== undefined && <span className="ml-auto text-muted text-xs">{option.detail}</span>}
        </div>
      ))}
    </div>
  );
}

export function optionId(listId: string, place: number): string {
  return `${listId}-${place}`;
}
