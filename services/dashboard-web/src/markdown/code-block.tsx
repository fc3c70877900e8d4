import { ShownText } from '../text/shown-text.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { type CodeKind, readCode } from './read-code.ts';

export function CodeBlock({ text }: { text: string }) {
  return (
    <div className="group/code relative">
      <pre
        key={text}
        ref={colorCode}
        className="whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5"
      >
        <ShownText text={text} />
      </pre>
      <div className="absolute top-1 right-1 rounded-md bg-sunken opacity-0 group-hover/code:opacity-100 focus-within:opacity-100">
        <CopyButton label="Copy the code" text={text} />
      </div>
    </div>
  );
}

/**
 * Colours code by highlights of the browser (`code-…` in styles.css), which leave the text and masked secrets
 * whole. Firefox before version 140 has none.
 * @returns a function that removes the colours.
 */
function colorCode(root: HTMLElement | null): (() => void) | undefined {
  if (root === null || !('highlights' in CSS)) return undefined;
  const own: [Highlight, Range][] = [];
  const add = (kind: CodeKind, range: Range) => {
    const name = `code-${kind}`;
    const highlight = CSS.highlights.get(name) ?? new Highlight();
    CSS.highlights.set(name, highlight.add(range));
    own.push([highlight, range]);
  };
  for (const node of root.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    for (const { kind, from, to } of readCode(node.nodeValue ?? '')) {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, to);
      add(kind, range);
    }
  }
  return () => {
    for (const [highlight, range] of own) highlight.delete(range);
  };
}
