import { MarkdownText } from '../markdown/markdown-text.tsx';
import { markdownCharsMax } from '../markdown/use-markdown.ts';
import { changeSettings, useSettings } from '../settings/settings.ts';
import { TextBlock } from '../text/text-block.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';

/** What a person or a model wrote: as it is, or as Markdown where that was chosen. */
export function Prose({ text }: { text: string }) {
  const { showsMarkdown } = useSettings();
  return showsMarkdown && text.length <= markdownCharsMax ? (
    <MarkdownText text={text} />
  ) : (
    <TextBlock text={text} />
  );
}

/** What can be done with a text. The choice of Markdown holds for all texts, and is kept. */
export function ProseActions({ text, label }: { text: string; label: string }) {
  const { showsMarkdown } = useSettings();
  const isLong = text.length > markdownCharsMax;
  return (
    <>
      <Button
        look="quiet"
        size="small"
        disabled={isLong}
        aria-pressed={showsMarkdown && !isLong}
        title={isLong ? 'It is too long for Markdown' : 'For all texts, in this browser'}
        className="h-6 px-1.5 text-xs aria-pressed:bg-accent-soft aria-pressed:text-accent"
        onClick={() => changeSettings({ showsMarkdown: !showsMarkdown })}
      >
        Markdown
      </Button>
      <CopyButton label={label} text={text} />
    </>
  );
}
