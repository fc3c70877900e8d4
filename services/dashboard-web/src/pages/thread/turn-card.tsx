import { Bot, Wrench } from 'lucide-react';
import { type Ref, useId } from 'react';
import { TickBox } from '../../compare/ticked-events.tsx';
import { type ListedEvent, showPreview } from '../../event/event-query.ts';
import { formatCount, formatDuration } from '../../format/number.ts';
import { describeCost, sumCosts } from '../../format/priced.ts';
import { formatTime } from '../../format/time.ts';
import { Notes, NotesButton } from '../../notes/notes.tsx';
import { SpaceLink } from '../../space/space.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { ErrorIcon, StateBadge } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { TurnText } from './turn-text.tsx';
import type { ThreadTurn } from './use-thread.ts';

interface TurnCardProps {
  measure: Ref<HTMLElement>;
  index: number;
  /** The number of turns in the thread; undefined while earlier ones are not loaded. */
  count: number | undefined;
  top: number;
  turn: ThreadTurn;
  before: ThreadTurn | undefined;
  isCurrent: boolean;
  onFocus: () => void;
}

/** An article of a feed. The text is loaded when the card is in the page. */
export function TurnCard({ measure, index, count, top, turn, before, isCurrent, onFocus }: TurnCardProps) {
  const title = useId();
  const { llm, tools } = splitTurn(turn);
  const { llm: llmBefore, tools: toolsBefore } = splitTurn(before);
  return (
    <article
      ref={measure}
      data-index={index}
      aria-labelledby={title}
      aria-posinset={index + 1}
      aria-setsize={count ?? -1}
      aria-current={isCurrent || undefined}
      tabIndex={0}
      onFocus={onFocus}
      style={{ top }}
      className={classes('card absolute inset-x-0 overflow-hidden', isCurrent && 'border-accent')}
    >
      <TurnHeader titleId={title} turn={turn} llmBefore={llmBefore} />
      <div className="flex flex-col gap-3 p-4 text-sm">
        {turn.isContinued && <p className="text-faint text-xs">The turn begins earlier.</p>}
        {llm !== undefined && <TurnText event={llm} before={llmBefore} toolsBefore={toolsBefore} />}
        {tools.length > 0 && (
          <ul className="flex flex-col gap-1">
            {tools.map((tool) => (
              <li key={tool.id}>
                <ToolLine tool={tool} />
              </li>
            ))}
          </ul>
        )}
        {llm !== undefined && <Notes on={{ eventId: llm.id }} isHiddenEmpty />}
      </div>
    </article>
  );
}

function splitTurn(turn: ThreadTurn | undefined): { llm: ListedEvent | undefined; tools: ListedEvent[] } {
  const events = turn?.events ?? [];
  return {
    llm: events.find(({ type }) => type === 'llm'),
    tools: events.filter(({ type }) => type === 'tool'),
  };
}

interface TurnHeaderProps {
  titleId: string;
  turn: ThreadTurn;
  llmBefore: ListedEvent | undefined;
}

function TurnHeader({ titleId, turn, llmBefore }: TurnHeaderProps) {
  const { llm } = splitTurn(turn);
  const [first] = turn.events;
  const cost = sumCosts(turn.events);
  return (
    <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-b bg-sunken px-4 py-2 text-sm">
      <Bot aria-hidden className="size-4 text-llm max-md:hidden" />
      <h2 id={titleId} className="font-medium">
        {llm === undefined ? (
          'Tools'
        ) : (
          <SpaceLink page="event" id={llm.id} className="hover:underline" text={llm.name ?? 'unnamed'} />
        )}
      </h2>
      {llm?.state === 'error' && <StateBadge state="error" />}
      {first !== undefined && <span className="text-muted">{formatTime(first.startTimeMs)}</span>}
      {llm !== undefined && <span className="text-muted">{formatDuration(llm.durationMs)}</span>}
      {llm !== undefined && llmBefore !== undefined && (
        <SpaceLink
          page="compare"
          search={{ a: llmBefore.id, b: llm.id }}
          className="text-muted text-xs hover:text-ink hover:underline"
          text="Compare with the previous turn"
        />
      )}
      <span className="ml-auto text-faint text-xs">
        {formatCount(turn.inputTokens)} in, {formatCount(turn.outputTokens)} out
        {cost !== undefined && `, ${describeCost(cost)}`}
      </span>
      {llm !== undefined && <NotesButton on={{ eventId: llm.id }} isIcon />}
      {llm !== undefined && <TickBox event={llm} className="max-md:order-first" />}
    </header>
  );
}

function ToolLine({ tool }: { tool: ListedEvent }) {
  return (
    <SpaceLink
      page="event"
      id={tool.id}
      className="flex min-h-7 items-center gap-2 rounded-md border border-line px-2 hover:bg-hover"
    >
      <Wrench aria-hidden className="size-3.5 shrink-0 text-tool" />
      <ShownText text={tool.name ?? 'unnamed'} className="shrink-0 font-medium" />
      {tool.state === 'error' && <ErrorIcon />}
      <ShownText
        text={tool.errorMessage ?? showPreview(tool.outputPreview ?? tool.inputPreview ?? '')}
        dir="auto"
        className="min-w-0 flex-1 truncate text-muted"
      />
      <span className="shrink-0 text-faint text-xs">{formatDuration(tool.durationMs)}</span>
    </SpaceLink>
  );
}
