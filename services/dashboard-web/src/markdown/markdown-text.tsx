import { TextBlock } from '../text/text-block.tsx';
import { Blocks } from './blocks.tsx';
import { useMarkdown } from './use-markdown.ts';

/** A text as Markdown; as plain text until it is parsed, and when parsing fails. */
export function MarkdownText({ text }: { text: string }) {
  const markdown = useMarkdown(text);
  if (markdown.state === 'done') {
    return (
      <div className="flex flex-col gap-2.5 [overflow-wrap:anywhere]">
        <Blocks tokens={markdown.tokens} depth={0} />
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
