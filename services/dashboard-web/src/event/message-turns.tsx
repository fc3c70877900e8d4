import { Bot, LogOut, type LucideIcon, ScrollText, UserRound, Wrench } from 'lucide-react';
import { useState } from 'react';
import { formatCounted } from '../format/number.ts';
import { useIsFound } from '../text/found-marks.tsx';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { InlineMedia } from './inline-media.tsx';
import type { Message, MessagePart } from './messages.ts';
import { Payload } from './payload.tsx';
import { MarkdownToggle, Prose, type ProsePlace } from './prose.tsx';
import { Turn } from './turn.tsx';

export const roleLooks = {
  system: { title: 'System', icon: ScrollText, tone: 'neutral' },
  user: { title: 'User', icon: UserRound, tone: 'user' },
  assistant: { title: 'Assistant', icon: Bot, tone: 'llm' },
  tool: { title: 'Tool', icon: Wrench, tone: 'tool' },
} as const satisfies Record<
  Message['role'],
  { title: string; icon: LucideIcon; tone: 'neutral' | 'user' | 'llm' | 'tool' }
>;

/** The last of a longer conversation: the earlier ones were seen in earlier calls. */
const shownMessages = 20;

export function MessageTurns({ messages, text }: { messages: readonly Message[]; text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isFound = useIsFound();
  const earlier = messages.slice(0, -shownMessages);
  const hidden = isWhole || earlier.some(({ source }) => isFound(source)) ? 0 : earlier.length;
  return (
    <section aria-label="Prompt" className="flex flex-col gap-2.5">
      <div className="flex items-center gap-2 text-muted text-xs">
        <span className="flex-1">
          The prompt is a conversation of {formatCounted(messages.length, 'message')}.
        </span>
        <MarkdownToggle place="event" />
        <CopyButton label="Copy the prompt" text={text} />
      </div>
      {hidden > 0 && (
        <Button
          look="quiet"
          size="small"
          onClick={() => setWhole(true)}
          text={`Show the ${hidden.toLocaleString('en')} earlier messages`}
        />
      )}
      {messages.slice(hidden).map(({ role, parts, source }, index) => (
        <Turn
          // Messages never change or move.
          // biome-ignore lint/suspicious/noArrayIndexKey: equal messages may follow each other.
          key={index}
          {...roleLooks[role]}
          isFolded={role === 'system' && source.length > 400 && !isFound(source)}
          aside={<CopyButton label={`Copy the message of ${roleLooks[role].title}`} text={source} />}
        >
          <MessageParts parts={parts} place="event" />
        </Turn>
      ))}
    </section>
  );
}

interface MessagePartsProps {
  parts: readonly MessagePart[];
  place: ProsePlace;
  /** Characters of a text shown at first. */
  firstMax?: number;
}

export function MessageParts({ parts, place, firstMax }: MessagePartsProps) {
  if (parts.length === 0) return <span className="text-faint">Empty</span>;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts never change or move.
        <Part key={index} part={part} place={place} {...(firstMax !== undefined && { firstMax })} />
      ))}
    </div>
  );
}

function Part({ part, place, firstMax }: { part: MessagePart; place: ProsePlace; firstMax?: number }) {
  const isFound = useIsFound();
  switch (part.kind) {
    case 'text':
      return <Prose text={part.text} place={place} {...(firstMax !== undefined && { firstMax })} />;
    case 'call':
      return (
        <Labelled icon={Wrench} verb="Calls" name={part.call.name}>
          {part.call.input !== undefined && part.call.input !== '' && (
            <Payload text={part.call.input} label={`Arguments of ${describeText(part.call.name)}`} />
          )}
        </Labelled>
      );
    case 'result':
      return (
        <Labelled icon={LogOut} verb="Result of" name={part.name ?? 'a tool'}>
          <Payload text={part.text} label={`Result of ${describeText(part.name ?? 'a tool')}`} />
        </Labelled>
      );
    case 'thinking':
      return (
        <details className="text-muted" open={isFound(part.text)}>
          <summary className="w-fit text-xs">Thinking</summary>
          <Prose text={part.text} place={place} />
        </details>
      );
    case 'media':
      return <InlineMedia media={part} />;
    case 'other':
      return <Payload text={part.text} label="Part of the message" />;
  }
}

interface LabelledProps {
  icon: LucideIcon;
  verb: string;
  name: string;
  children: React.ReactNode;
}

function Labelled({ icon: Icon, verb, name, children }: LabelledProps) {
  return (
    <div className="min-w-0">
      <p className="mb-1 flex min-w-0 items-center gap-1.5 text-muted text-xs">
        <Icon aria-hidden className="size-3.5 shrink-0 text-tool" />
        {verb} <ShownText text={name} className="truncate font-medium text-ink" />
      </p>
      {children}
    </div>
  );
}
