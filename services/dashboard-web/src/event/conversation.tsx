import {
  Bot,
  LogIn,
  LogOut,
  type LucideIcon,
  ScrollText,
  TriangleAlert,
  UserRound,
  Wrench,
} from 'lucide-react';
import { useMemo } from 'react';
import { useIsFound } from '../text/found-marks.tsx';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { TextBlock } from '../text/text-block.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import type { WholeEvent } from './event-query.ts';
import type { EventText } from './event-text.ts';
import { MessageTurns } from './message-turns.tsx';
import { readMessages } from './messages.ts';
import { Payload } from './payload.tsx';
import { Prose, ProseActions } from './prose.tsx';
import { ToolCalls } from './tool-calls.tsx';
import { Turn } from './turn.tsx';

export function Conversation({ event, parts }: { event: WholeEvent; parts: EventText }) {
  const { llm, tool } = parts;
  return (
    <div className="flex flex-col gap-2.5">
      {llm && <LlmTurns llm={llm} event={event} />}
      {tool?.input && <ToolTurn icon={LogIn} title="Input" text={tool.input} />}
      {tool !== undefined && event.state === 'error' && <ErrorTurn event={event} />}
      {tool?.output && <ToolTurn icon={LogOut} title="Output" text={tool.output} />}
      {llm === undefined && tool === undefined && event.state === 'error' && <ErrorTurn event={event} />}
      {isEmpty(parts) && event.state === 'ok' && (
        <p className="py-8 text-center text-muted text-sm">
          This event has no input and no output. The JSON tab shows all of it.
        </p>
      )}
    </div>
  );
}

function LlmTurns({ llm, event }: { llm: NonNullable<EventText['llm']>; event: WholeEvent }) {
  const isFound = useIsFound();
  return (
    <>
      {llm.system && (
        <Turn
          icon={ScrollText}
          title="System"
          tone="neutral"
          isFolded={llm.system.length > foldedChars && !isFound(llm.system)}
          aside={
            <>
              <TextSize text={llm.system} />
              <ProseActions label="Copy the system text" text={llm.system} />
            </>
          }
        >
          <Prose text={llm.system} />
        </Turn>
      )}
      {llm.tools.length > 0 && <OfferedTools tools={llm.tools} />}
      {llm.prompt && <PromptTurn text={llm.prompt} />}
      {event.state === 'error' && <ErrorTurn event={event} />}
      {llm.response && <ProseTurn icon={Bot} title="Response" tone="llm" text={llm.response} />}
      <ToolCalls calls={llm.toolCalls} event={event} />
    </>
  );
}

/** A prompt, or the conversation that a client sent as JSON in it. */
function PromptTurn({ text }: { text: string }) {
  const messages = useMemo(() => readMessages(text), [text]);
  if (messages !== undefined) return <MessageTurns messages={messages} text={text} />;
  return <ProseTurn icon={UserRound} title="Prompt" tone="user" text={text} />;
}

interface ProseTurnProps {
  icon: LucideIcon;
  title: string;
  tone: 'user' | 'llm';
  text: string;
}

function ProseTurn({ text, ...turn }: ProseTurnProps) {
  const aside = <ProseActions label={`Copy the ${turn.title.toLowerCase()}`} text={text} />;
  return (
    <Turn {...turn} aside={aside}>
      <Prose text={text} />
    </Turn>
  );
}

function ToolTurn({ icon, title, text }: { icon: LucideIcon; title: string; text: string }) {
  return (
    <Turn
      icon={icon}
      title={title}
      tone="tool"
      aside={<CopyButton label={`Copy the ${title.toLowerCase()}`} text={text} />}
    >
      <Payload text={text} label={title} />
    </Turn>
  );
}

/** A longer system text is folded at first. */
const foldedChars = 400;

function TextSize({ text }: { text: string }) {
  return <span className="text-faint text-xs">{text.length.toLocaleString('en')} characters</span>;
}

function isEmpty({ llm, tool }: EventText): boolean {
  const hasLlm = llm && (llm.system || llm.prompt || llm.response || llm.toolCalls.length > 0);
  return !hasLlm && !tool?.input && !tool?.output;
}

function ErrorTurn({ event }: { event: WholeEvent }) {
  const codes = [
    event.errorCode !== null && `code ${event.errorCode}`,
    event.errorHttpStatus !== null && `HTTP ${event.errorHttpStatus}`,
  ].filter((code) => code !== false);
  return (
    <Turn
      icon={TriangleAlert}
      title={<ShownText text={`Error${codes.length > 0 ? `: ${codes.join(', ')}` : ''}`} />}
      tone="bad"
    >
      {event.errorMessage === null ? (
        <span className="text-muted">No message.</span>
      ) : (
        <TextBlock text={event.errorMessage} />
      )}
    </Turn>
  );
}

function OfferedTools({ tools }: { tools: { name: string; source: string }[] }) {
  const isFound = useIsFound();
  return (
    <Turn
      icon={Wrench}
      title={`${tools.length} ${tools.length === 1 ? 'tool' : 'tools'} offered`}
      tone="neutral"
      isFolded={tools.length > 6 && !tools.some(({ name }) => isFound(name))}
    >
      <ul className="flex flex-wrap gap-1.5">
        {tools.map(({ name, source }, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and the order never changes.
            key={index}
            className="rounded-sm bg-sunken px-1.5 py-0.5 font-mono text-xs"
          >
            <ShownText text={name} title={describeText(source.slice(0, 500))} />
          </li>
        ))}
      </ul>
    </Turn>
  );
}
