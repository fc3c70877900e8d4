/** A message of Weir. Its `commands`, between backticks as in Markdown, are shown as code. */
export function InlineCode({ text }: { text: string }) {
  return text.split('`').map((part, place) =>
    place % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move.
      <code key={place} className="break-words font-mono text-xs">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
