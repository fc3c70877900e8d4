import { Search as SearchIcon } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useId, useRef, useState } from 'react';
import { withCondition } from '../filter/conditions.ts';
import type { Filter } from '../filter/use-filter.ts';
import { useShortcuts } from '../settings/settings.ts';
import { ShownText } from '../text/shown-text.tsx';
import { Button } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { submits } from '../ui/field.tsx';
import { type CompletionOption, completeAt } from './completion.ts';
import { type ParsedQuery, parseQueryText, type QueryProblem } from './query-text.ts';
import { useCompletion } from './use-offers.ts';

/** The range in which costs are compared when none was chosen: they need one. */
const costRange = '30d';

/** The search field of a filter, with completion of fields and values. */
export function QueryField({ filter: { search, set } }: { filter: Filter }) {
  const onQuery = ({ conditions, text }: ParsedQuery) => {
    const next = conditions.reduce(withCondition, search);
    const hasRange = next.from !== undefined || next.last !== undefined;
    set({
      ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
      ...next,
      ...(next.cost !== undefined && !hasRange && { last: costRange }),
      text,
    });
  };
  // A new address resets the text.
  return <QueryInput key={search.text ?? ''} initial={search.text ?? ''} onQuery={onQuery} />;
}

function QueryInput({ initial, onQuery }: { initial: string; onQuery: (query: ParsedQuery) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const listId = useId();
  const { text, type, moveTo, close, search, accept, onKeyDown, options, isOpen, active, problem } =
    useQueryText(field, initial, onQuery);
  useShortcuts({ '/': () => field.current?.focus() });
  return (
    <form onSubmit={submits(() => search(text))} className="relative min-w-56 flex-1">
      <SearchIcon aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
      <input
        ref={field}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen && active >= 0 ? optionId(listId, active) : undefined}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${listId}-problem`}
        value={text}
        onChange={(event) => type(event.target)}
        onClick={(event) => moveTo(event.currentTarget)}
        onBlur={close}
        onKeyDown={onKeyDown}
        aria-label="Search events, or filter by field:value"
        placeholder="Search, or user:mia -model:gpt-4o took:>10s"
        spellCheck={false}
        autoComplete="off"
        enterKeyHint="search"
        className="h-8 w-full rounded-md border border-edge bg-surface pr-9 pl-8 text-sm placeholder-shown:text-ellipsis placeholder:text-faint max-md:pr-2.5 focus-visible:border-accent focus-visible:outline-offset-0"
      />
      <kbd className="pointer-events-none absolute top-[7px] right-2 max-md:hidden">/</kbd>
      {isOpen && <CompletionList id={listId} options={options} active={active} onAccept={accept} />}
      {problem !== undefined && <Problem id={`${listId}-problem`} problem={problem} onFix={search} />}
    </form>
  );
}

/** The typed text, its completion, and what is wrong with it. */
function useQueryText(
  field: RefObject<HTMLInputElement | null>,
  initial: string,
  onQuery: (query: ParsedQuery) => void,
) {
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<QueryProblem>();
  const { completion, options, isOpen, active, setActive, setCursor, moveTo, close } = useCompletionOf(text);
  const type = (input: HTMLInputElement) => {
    close();
    setText(input.value);
    moveTo(input);
    setProblem(undefined);
  };
  const search = (query: string) => {
    const parsed = parseQueryText(query);
    close();
    setProblem(parsed.problem);
    setText(parsed.problem === undefined ? parsed.text : query);
    if (parsed.problem === undefined) onQuery(parsed);
  };
  const accept = (option: CompletionOption) => {
    if (completion === undefined) return;
    const before = text.slice(0, completion.start) + option.insert;
    const after = text.slice(completion.end);
    if ('field' in option) return search(before + after.trimStart());
    setText(before + (option.isOpen ? after : after.trimStart()));
    setActive(-1);
    setCursor(option.isOpen ? before.length : undefined);
    // After React has drawn the new text.
    requestAnimationFrame(() => field.current?.setSelectionRange(before.length, before.length));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const next = stepOver(event.key, active, options.length);
    if (event.key === 'Escape') return isOpen ? close() : event.currentTarget.blur();
    // Tab completes what was begun; in an empty field it goes on to the next control.
    const isTab = event.key === 'Tab' && !event.shiftKey && text.trim() !== '';
    const option = isOpen && (isTab || event.key === 'Enter') && takenOption(options, active, isTab);
    if (next === undefined && !option) return;
    event.preventDefault();
    if (option) accept(option);
    else if (!isOpen) moveTo(event.currentTarget);
    else if (next !== undefined) setActive(next);
  };
  return { text, type, moveTo, close, search, accept, onKeyDown, options, isOpen, active, problem };
}

/** The completion at the cursor, which is unknown while the list of options is closed. */
function useCompletionOf(text: string) {
  const [cursor, setCursor] = useState<number>();
  const [active, setActive] = useState(-1);
  const completion = cursor === undefined ? undefined : completeAt(text, cursor);
  const options = useCompletion(completion);
  const isOpen = completion !== undefined && options.length > 0;
  const moveTo = ({ selectionStart, value }: HTMLInputElement) => setCursor(selectionStart ?? value.length);
  const close = () => {
    setCursor(undefined);
    setActive(-1);
  };
  return { completion, options, isOpen, active, setActive, setCursor, moveTo, close };
}

/** The option to which an arrow key leads; after the last and before the first is the field itself, -1. */
function stepOver(key: string, active: number, options: number): number | undefined {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  return step && ((active + 2 + step + options) % (options + 1)) - 1;
}

/** The option that Tab, or Enter, takes. */
function takenOption(options: readonly CompletionOption[], active: number, isTab: boolean) {
  // Enter takes the only value that begins with what was typed; the name of a field may be searched for.
  const isOnly = options.length === 1 && options[0]?.isOpen === false && active === -1;
  const option = options[isTab || isOnly ? Math.max(0, active) : active];
  // A word is no filter until one is chosen.
  return option !== undefined && 'field' in option && active === -1 ? undefined : option;
}

interface ProblemProps {
  id: string;
  problem: QueryProblem;
  onFix: (query: string) => void;
}

function Problem({ id, problem: { message, fixes }, onFix }: ProblemProps) {
  return (
    <div role="alert" className="mt-1.5 flex flex-wrap items-center gap-2 text-sm">
      <span id={id} className="text-bad">
        {message}
      </span>
      {fixes.map(({ label, query }) => (
        <Button key={label} size="small" onClick={() => onFix(query)} text={label} />
      ))}
    </div>
  );
}

interface CompletionListProps {
  id: string;
  options: readonly CompletionOption[];
  /** The place of the highlighted option; -1 without one. */
  active: number;
  onAccept: (option: CompletionOption) => void;
}

/** The options below a search field, which keeps the focus. */
function CompletionList({ id, options, active, onAccept }: CompletionListProps) {
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
          <ShownText text={option.label} className="truncate font-mono text-[0.8rem]" />
          {option.detail !== undefined && <span className="ml-auto text-muted text-xs">{option.detail}</span>}
        </div>
      ))}
    </div>
  );
}

function optionId(listId: string, place: number): string {
  return `${listId}-${place}`;
}
