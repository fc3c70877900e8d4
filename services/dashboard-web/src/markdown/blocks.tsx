import type { MarkedToken, Token, Tokens } from 'marked';
import { ShownText } from '../text/shown-text.tsx';
import { classes } from '../ui/classes.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Inlines } from './inlines.tsx';
import { type CodeKind, readCode } from './read-code.ts';

/** Deeper nested quotes and lists are shown as source text, to bound the time of drawing. */
const depthMax = 12;

/** HTML is text, images are never loaded, and every text is a ShownText. */
export function Blocks({ tokens, depth }: { tokens: readonly Token[]; depth: number }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a text never change their order.
  return tokens.map((token, index) => <Block key={index} token={token as MarkedToken} depth={depth} />);
}

function Block({ token, depth }: { token: MarkedToken; depth: number }) {
  if (depth > depthMax) return <Plain text={token.raw} />;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      // One level, below the titles of the conversation: a text must not change the outline of the page.
      return (
        <h3 className={classes('font-semibold', sizes[token.depth] ?? 'text-sm')}>
          <Inlines tokens={token.tokens} depth={depth} />
        </h3>
      );
    case 'paragraph':
      return (
        <p className="whitespace-pre-wrap">
          <Inlines tokens={token.tokens} depth={depth} />
        </p>
      );
    case 'text':
      return (
        <span className="whitespace-pre-wrap">
          {token.tokens === undefined ? (
            <ShownText text={token.text} />
          ) : (
            <Inlines tokens={token.tokens} depth={depth} />
          )}
        </span>
      );
    case 'code':
      return <CodeBlock text={token.text} />;
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-edge border-l-2 pl-3 text-muted">
          <Blocks tokens={token.tokens} depth={depth + 1} />
        </blockquote>
      );
    case 'list':
      return <List list={token} depth={depth} />;
    case 'table':
      return <TextTable table={token} depth={depth} />;
    case 'hr':
      return <hr className="border-line" />;
    case 'checkbox':
      return <CheckMark isDone={token.checked} />;
    default:
      return <Plain text={token.raw} />;
  }
}

function CheckMark({ isDone }: { isDone: boolean }) {
  return (
    <span role="img" aria-label={isDone ? 'done' : 'open'}>
      {isDone ? '☑ ' : '☐ '}
    </span>
  );
}

const sizes: Record<number, string> = { 1: 'text-lg', 2: 'text-base' };

function Plain({ text }: { text: string }) {
  return (
    <div className="whitespace-pre-wrap">
      <ShownText text={text.trimEnd()} />
    </div>
  );
}

function List({ list: { ordered, start, items }, depth }: { list: Tokens.List; depth: number }) {
  const Kind = ordered ? 'ol' : 'ul';
  return (
    <Kind
      {...(ordered && { start: Number(start) })}
      className={classes('flex flex-col gap-1 pl-6', ordered ? 'list-decimal' : 'list-disc')}
    >
      {items.map(({ tokens }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items of a text never change their order.
        <li key={index}>
          <Blocks tokens={tokens} depth={depth + 1} />
        </li>
      ))}
    </Kind>
  );
}

function TextTable({ table: { header, rows }, depth }: { table: Tokens.Table; depth: number }) {
  return (
    <table className="w-fit max-w-full border-collapse text-xs">
      <thead>
        <tr>
          {header.map(({ tokens, align }, column) => (
            <th
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a text never change their order.
              key={column}
              style={alignTo(align)}
              className="border border-line bg-sunken px-2 py-1 text-left font-medium"
            >
              <Inlines tokens={tokens} depth={depth} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a text never change their order.
          <tr key={row}>
            {cells.map(({ tokens, align }, column) => (
              <td
                // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a text never change their order.
                key={column}
                style={alignTo(align)}
                className="border border-line px-2 py-1 align-top"
              >
                <Inlines tokens={tokens} depth={depth} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The style of a column whose alignment the text says. */
const alignTo = (align: Tokens.Table['align'][number]) => (align === null ? undefined : { textAlign: align });

function CodeBlock({ text }: { text: string }) {
  return (
    <div className="group/code relative">
      <pre
        key={text}
        ref={colorCode}
        className="whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5"
      >
        <ShownText text={text} />
      </pre>
      <div className="absolute top-1 right-1 rounded-md bg-sunken opacity-0 group-hover/code:opacity-100 focus-within:opacity-100 max-md:opacity-100 pointer-coarse:opacity-100">
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
