import { Bot, ChevronRight, UserRound } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { type ListedEvent, useEventText } from '../../event/event-query.ts';
import { MessageParts, roleLooks } from '../../event/message-turns.tsx';
import { type Message, readMessages } from '../../event/messages.ts';
import { Prose } from '../../event/prose.tsx';
import { formatCounted } from '../../format/number.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { TextBlock } from '../../text/text-block.tsx';
import { classes } from '../../ui/classes.ts';
import { FailureNotice, Loading } from '../../ui/loaded.tsx';
import { findNewMessages, findRepeated, splitToolResults } from './repeated-text.ts';

/** Characters of a prompt shown at first. */
const promptChars = 600;

interface TurnTextProps {
  event: ListedEvent;
  before: ListedEvent | undefined;
  toolsBefore: readonly ListedEvent[];
}

/** What the prompt repeats of the turn before is folded. */
export function TurnText({ event, before: currentBefore, toolsBefore }: TurnTextProps) {
  // Earlier turns that are loaded later must not fold what is being read.
  const [before] = useState(currentBefore);
  const { data, error } = useEventText(event.id);
  const earlier = useEventText(before?.id);
  if (error !== null) return <FailureNotice error={error} isSmall />;
  // A prompt that shrank a moment after it was shown would move what is read.
  if (data === undefined || (before !== undefined && earlier.isLoading)) return <Loading rows={3} />;
  const { llm } = data;
  return (
    <>
      {llm?.prompt && (
        <Speech icon={<UserRound aria-label="Prompt" className="mt-0.5 size-4 shrink-0 text-accent" />}>
          <Prompt text={llm.prompt} before={earlier.data?.llm?.prompt ?? ''} toolsBefore={toolsBefore} />
        </Speech>
      )}
      {llm?.response && (
        <Speech icon={<Bot aria-label="Response" className="mt-0.5 size-4 shrink-0 text-llm" />}>
          <Prose text={llm.response} place="thread" />
        </Speech>
      )}
      {event.state === 'error' && (
        <p className="text-bad">
          <ShownText text={event.errorMessage ?? 'The call failed.'} />
        </p>
      )}
    </>
  );
}

interface PromptProps {
  text: string;
  before: string;
  toolsBefore: readonly ListedEvent[];
}

/** A prompt, or the conversation that a client sent as JSON in it. */
function Prompt(prompt: PromptProps) {
  const messages = useMemo(() => readMessages(prompt.text), [prompt.text]);
  return messages === undefined ? (
    <PlainPrompt {...prompt} />
  ) : (
    <MessagePrompt {...prompt} messages={messages} />
  );
}

/** The messages that the thread does not show yet; a button shows the others. */
function MessagePrompt({ messages, before, toolsBefore }: PromptProps & { messages: readonly Message[] }) {
  const added = useMemo(
    () => findNewMessages(messages, readMessages(before), toolsBefore),
    [messages, before, toolsBefore],
  );
  const [isWhole, setWhole] = useState(false);
  const { repeated, results } = added;
  const folded = [
    repeated > 0 && `${formatCounted(repeated, 'message')} as before`,
    results > 0 && `${formatCounted(results, 'tool result')} shown above`,
  ].filter((part) => part !== false);
  return (
    <>
      {folded.length > 0 && (
        <FoldButton isOpen={isWhole} onClick={() => setWhole(!isWhole)}>
          {folded.join(', ')}
        </FoldButton>
      )}
      <ul className="flex flex-col gap-2">
        {(isWhole ? messages : added.messages).map(({ role, parts }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages never change or move.
          <li key={index} className="flex min-w-0 flex-col">
            {role !== 'user' && <span className="label">{roleLooks[role].title}</span>}
            <MessageParts parts={parts} place="thread" firstMax={promptChars} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface FoldButtonProps {
  isOpen: boolean;
  onClick: () => void;
  children: ReactNode;
}

function FoldButton({ isOpen, onClick, children }: FoldButtonProps) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onClick}
      className="flex min-h-6 items-center gap-1 rounded-sm text-faint text-xs hover:text-ink"
    >
      <ChevronRight aria-hidden className={classes('size-3.5', isOpen && 'rotate-90')} />
      {children}
    </button>
  );
}

function PlainPrompt({ text, before, toolsBefore }: PromptProps) {
  const repeated = useMemo(() => findRepeated(text, before), [text, before]);
  const { rest, results } = useMemo(
    () => splitToolResults(text.slice(repeated.end), toolsBefore),
    [text, repeated, toolsBefore],
  );
  const [isWhole, setWhole] = useState(false);
  if (repeated.end === 0 && results === 0) return <Prose text={text} firstMax={promptChars} place="thread" />;
  return (
    <>
      <FoldButton isOpen={isWhole} onClick={() => setWhole(!isWhole)}>
        {describeFolded(repeated, results, rest === '')}
      </FoldButton>
      {isWhole ? (
        <TextBlock text={text} firstMax={promptChars} />
      ) : (
        rest !== '' && <Prose text={rest} firstMax={promptChars} place="thread" />
      )}
    </>
  );
}

/** `12 lines as before, 1 tool result`. */
function describeFolded(
  { end, lines }: { end: number; lines: number },
  results: number,
  isAll: boolean,
): string {
  const size = lines > 0 ? formatCounted(lines, 'line') : formatCounted(end, 'character');
  if (results === 0) return isAll ? `The same prompt as before: ${size}` : `${size} as before`;
  const tools = `${formatCounted(results, 'tool result')} shown above`;
  return end === 0 ? tools : `${size} as before, ${tools}`;
}

function Speech({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div className="flex gap-3">
      {icon}
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}
