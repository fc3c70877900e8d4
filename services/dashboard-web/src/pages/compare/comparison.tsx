import { ArrowLeftRight, ArrowRight } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { conversationOf } from '../../compare/conversation.ts';
import type { DiffLook } from '../../compare/diff-view.tsx';
import { indentJson } from '../../compare/indent-json.ts';
import type { WholeEvent } from '../../event/event-query.ts';
import { readEventText } from '../../event/event-text.ts';
import { useIsNarrow } from '../../event-grid/use-is-narrow.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatTime } from '../../format/time.ts';
import { SpaceLink } from '../../space/space.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { eventFacts, FactsTable } from './facts.tsx';
import { LineComparison } from './line-comparison.tsx';
import { MessageComparison } from './message-comparison.tsx';

const looks: readonly DiffLook[] = ['split', 'unified'];

/** Compares conversations, or one text by line. The part and the layout are in the address. */
export function Comparison({ before, after }: { before: WholeEvent; after: WholeEvent }) {
  const { search, set } = useFilter();
  const [old, now] = useMemo(() => [readParts(before.event), readParts(after.event)], [before, after]);
  const parts = (Object.keys(comparedParts) as ComparedPart[]).filter(
    (part) => old[part] !== undefined || now[part] !== undefined,
  );
  const part = parts.find((one) => one === search.part);
  // Two columns of a phone have a few words each.
  const usual: DiffLook = useIsNarrow() ? 'unified' : 'split';
  const look = looks.find((one) => one === search.look) ?? usual;
  const isSplit = look === 'split';
  const [left, right] = [useLines(part && old[part]), useLines(part && now[part])];
  return (
    <Page
      title="Compare"
      isWide
      subtitle={
        <Sides
          ids={[before.id, after.id]}
          links={[<EventLink key="a" event={before} />, <EventLink key="b" event={after} />]}
        />
      }
      actions={
        part !== undefined && (
          <Button
            size="small"
            onClick={() => set({ look: isSplit ? 'unified' : 'split' })}
            text={isSplit ? 'In one column' : 'Side by side'}
          />
        )
      }
    >
      <Tabs
        label="Parts"
        tabs={[
          { value: 'messages', label: 'Conversation' },
          ...parts.map((value) => ({ value, label: comparedParts[value] })),
        ]}
        chosen={part ?? 'messages'}
        onChoose={(one) => set({ part: one === 'messages' ? undefined : one })}
        className="px-4 md:px-6"
      >
        {part === undefined ? (
          <EventComparison before={before} after={after} />
        ) : (
          <LineComparison key={part} before={left} after={right} look={look} />
        )}
      </Tabs>
    </Page>
  );
}

function EventComparison({ before, after }: { before: WholeEvent; after: WholeEvent }) {
  const [old, now] = useMemo(
    () => [readEventText(before.event), readEventText(after.event)],
    [before, after],
  );
  const messages = useMemo(
    () => [conversationOf(old, before.name ?? ''), conversationOf(now, after.name ?? '')] as const,
    [old, now, before, after],
  );
  const facts = [eventFacts(before, old), eventFacts(after, now)] as const;
  return (
    <section
      aria-label="Differences"
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto p-4 focus-visible:outline-offset-[-2px] md:px-6"
    >
      <div className="mx-auto max-w-5xl">
        <FactsTable before={facts[0]} after={facts[1]} />
        <MessageComparison before={messages[0]} after={messages[1]} />
      </div>
    </section>
  );
}

function useLines(text: string | undefined): string[] {
  return useMemo(() => (text === undefined ? [] : text.split('\n')), [text]);
}

interface SidesProps {
  ids: [string, string];
  links: [ReactNode, ReactNode];
}

/** Links to the two things that are compared, and a button that swaps them. */
export function Sides({ ids: [a, b], links: [first, second] }: SidesProps) {
  const { set } = useFilter();
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {first}
      <ArrowRight aria-label="with" className="size-3.5" />
      {second}
      <IconButton icon={ArrowLeftRight} label="Swap" onClick={() => set({ a: b, b: a })} />
    </span>
  );
}

function EventLink({ event }: { event: WholeEvent }) {
  return (
    <SpaceLink page="event" id={event.id} className="max-w-full truncate hover:text-ink hover:underline">
      <ShownText text={event.name ?? 'unnamed'} /> · {formatTime(event.startTimeMs)}
    </SpaceLink>
  );
}

export const comparedParts = {
  prompt: 'Prompt',
  response: 'Response',
  system: 'System',
  input: 'Input',
  output: 'Output',
  json: 'JSON',
} as const;

export type ComparedPart = keyof typeof comparedParts;

/** JSON is indented, each number and text as it was sent. */
export function readParts(event: string): Partial<Record<ComparedPart, string>> {
  const { llm, tool } = readEventText(event);
  return Object.fromEntries(
    Object.entries({
      prompt: llm?.prompt,
      response: llm?.response,
      system: llm?.system,
      input: tool?.input && indentIfJson(tool.input),
      output: tool?.output && indentIfJson(tool.output),
      json: indentJson(event),
    }).filter(([, text]) => text !== undefined),
  );
}

function indentIfJson(text: string): string {
  try {
    JSON.parse(text);
    return indentJson(text);
  } catch {
    return text;
  }
}
