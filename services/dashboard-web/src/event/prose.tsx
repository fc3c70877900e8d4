import type { Token } from 'marked';
import { useMemo } from 'react';
import { useWorker } from '../api/use-worker.ts';
import { Blocks } from '../markdown/blocks.tsx';
import { hasMarkup } from '../markdown/markup.ts';
import { changeSettings, useSettings } from '../settings/settings.ts';
import { TextBlock } from '../text/text-block.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { isJsonContainer, Payload } from './payload.tsx';

/** A thread is read, so with Markdown by default; the page of an event shows what was sent. */
export type ProsePlace = 'event' | 'thread';

/** Whether texts are drawn as Markdown: by the choice in this browser, or the default of the place. */
function useShowsMarkdown(place: ProsePlace): boolean {
  return useSettings().showsMarkdown ?? place === 'thread';
}

interface ProseProps {
  text: string;
  /** Characters shown at first. A longer text is shown plain. */
  firstMax?: number;
  place?: ProsePlace;
}

/** JSON as a tree, other texts plain or as Markdown. */
export function Prose({ text, firstMax, place = 'event' }: ProseProps) {
  const isMarkdown =
    useShowsMarkdown(place) && text.length <= (firstMax ?? markdownCharsMax) && hasMarkup(text);
  const isJson = useMemo(() => isJsonContainer(text), [text]);
  // As Markdown JSON would lose its backslashes.
  if (isJson) return <Payload text={text} label="Text as JSON" />;
  if (isMarkdown) return <MarkdownText text={text} />;
  return <TextBlock text={text} {...(firstMax !== undefined && { firstMax })} />;
}

export function ProseActions({ text, label }: { text: string; label: string }) {
  return (
    <>
      <MarkdownToggle place="event" isDisabled={text.length > markdownCharsMax} />
      <CopyButton label={label} text={text} />
    </>
  );
}

/** Shows all texts as Markdown, or plain. The choice is kept in this browser. */
export function MarkdownToggle({ place, isDisabled = false }: { place: ProsePlace; isDisabled?: boolean }) {
  const isOn = useShowsMarkdown(place);
  return (
    <Button
      look="quiet"
      size="small"
      disabled={isDisabled}
      aria-pressed={isOn && !isDisabled}
      title={isDisabled ? 'This text is too long for Markdown' : 'Applies to all texts in this browser'}
      className="h-6 px-1.5 text-xs aria-pressed:bg-accent-soft aria-pressed:text-accent"
      onClick={() => changeSettings({ showsMarkdown: !isOn })}
      text="Markdown"
    />
  );
}

/** A text as Markdown; as plain text until it is parsed, and when parsing fails. */
function MarkdownText({ text }: { text: string }) {
  const markdown = useWorker<string, Token[]>(startLexer, text, timeoutMs);
  if (markdown.state === 'done') {
    return (
      <div className="flex flex-col gap-2.5 [overflow-wrap:anywhere]">
        <Blocks tokens={markdown.result} depth={0} />
      </div>
    );
  }
  return (
    <>
      {markdown.state === 'failed' && (
        <p role="status" className="mb-2 text-muted text-xs">
          This text cannot be displayed as Markdown.
        </p>
      )}
      <TextBlock text={text} />
    </>
  );
}

/** Longer texts are never shown as Markdown, in characters. */
const markdownCharsMax = 50_000;

/** Timeout of the Markdown parser, in milliseconds: some texts would take minutes. */
const timeoutMs = 2_000;

const startLexer = () =>
  new Worker(new URL('../markdown/lex-worker.ts', import.meta.url), { type: 'module' });
