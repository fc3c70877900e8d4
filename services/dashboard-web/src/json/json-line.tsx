import { ChevronRight, Route } from 'lucide-react';
import { formatCounted } from '../format/number.ts';
import { readMedia } from '../media/base64.ts';
import { MediaChip } from '../media/media-chip.tsx';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { classes } from '../ui/classes.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { readString, readStringHead, sourceOf } from './node.ts';
import { headChars, type JsonDocument, type JsonRow } from './rows.ts';

const indentPx = 14;
/** Deeper values are not indented further, so that they stay in the window. */
const indentDepthMax = 24;

interface JsonLineProps {
  id: string;
  row: JsonRow;
  document: JsonDocument;
  isCurrent: boolean;
  top: number;
  position: { index: number; count: number };
  onToggle: () => void;
  onFocus: () => void;
}

export function JsonLine({ id, row, document, isCurrent, top, position, onToggle, onFocus }: JsonLineProps) {
  const canOpen = row.chunk === undefined && !row.isClose && hasMore(row, document);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names the line (aria-activedescendant).
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-posinset={position.index + 1}
      aria-setsize={position.count}
      aria-selected={isCurrent}
      aria-expanded={canOpen ? row.isOpen : undefined}
      className={classes(
        'group absolute left-0 flex h-6 min-w-full items-center pr-2 whitespace-pre',
        isCurrent ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
      style={{ top, paddingLeft: Math.min(row.depth, indentDepthMax) * indentPx + 6 }}
      onClick={() => {
        onFocus();
        if (canOpen) onToggle();
      }}
    >
      <ChevronRight
        aria-hidden
        className={classes(
          'mr-0.5 size-3.5 shrink-0 text-faint',
          !canOpen && 'invisible',
          row.isOpen && 'rotate-90',
        )}
      />
      {row.key !== undefined && (
        <>
          <span className={typeof row.key === 'number' ? 'text-faint' : 'text-accent'}>
            {typeof row.key === 'number' ? row.key : <ShownText text={row.key} />}
          </span>
          <span className="text-faint">: </span>
        </>
      )}
      <Value row={row} document={document} />
      {row.chunk === undefined && !row.isClose && <LineActions row={row} document={document} />}
    </div>
  );
}

function Value({ row, document }: { row: JsonRow; document: JsonDocument }) {
  const { node, chunk, isOpen, isClose } = row;
  const { text } = document;
  if (chunk !== undefined) return <ShownText text={chunk.text} />;
  if (isClose) return <span className="text-faint">{node.kind === 'object' ? '}' : ']'}</span>;
  if (node.kind === 'string') return <StringValue row={row} document={document} />;
  if (node.kind === 'object' || node.kind === 'array') {
    const count = document.childrenOf(node).length;
    const [start, end] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
    if (isOpen) return <span className="text-faint">{start}</span>;
    const unit = node.kind === 'object' ? 'member' : 'element';
    return (
      <span className="text-faint">
        {count === 0 ? start + end : `${start} ${formatCounted(count, unit)} ${end}`}
      </span>
    );
  }
  const source = text.slice(node.start, Math.min(node.end, node.start + headChars));
  return <span className={node.kind === 'number' ? 'text-llm' : 'font-medium text-warn'}>{source}</span>;
}

function StringValue({ row: { node, isOpen }, document }: { row: JsonRow; document: JsonDocument }) {
  const head = readStringHead(document.text, node, headChars);
  const size = node.end - node.start - 2;
  const media =
    readMedia(head) ?? (isBase64(head, size) ? { label: 'base64', image: undefined, prefix: 0 } : undefined);
  if (media !== undefined && !isOpen && size > mediaChars) {
    const base64 = () => (readString(document.text, node) ?? '').slice(media.prefix);
    return <MediaChip media={media} chars={size - media.prefix} base64={base64} />;
  }
  if (isOpen) return <span className="text-faint">text of {size.toLocaleString('en')} characters</span>;
  return (
    <span className="text-good">
      &quot;
      <ShownText text={head.replaceAll('\n', '⏎').replaceAll('\t', '⇥')} />
      {size > headChars ? '…' : '"'}
    </span>
  );
}

/** Shorter texts are shown as text, whatever they start with. */
const mediaChars = 80;

function isBase64(head: string, size: number): boolean {
  return size > 2_000 && head.length >= headChars && /^[A-Za-z0-9+/_-]+$/.test(head);
}

function LineActions({ row, document }: { row: JsonRow; document: JsonDocument }) {
  return (
    <span className="ml-2 hidden items-center group-hover:flex group-aria-selected:flex [&_button]:size-6 [&_svg]:size-3">
      <CopyButton
        label={`Copy the value of ${describeText(row.path) || 'the root'}`}
        text={() => sourceOf(document.text, row.node)}
      />
      {row.path !== '' && (
        <CopyButton label={`Copy the path ${describeText(row.path)}`} text={row.path} icon={Route} />
      )}
    </span>
  );
}

function hasMore({ node }: JsonRow, document: JsonDocument): boolean {
  if (node.kind === 'string') {
    const source = document.text;
    if (node.end - node.start > headChars) return true;
    return readStringHead(source, node, headChars).includes('\n');
  }
  return (node.kind === 'object' || node.kind === 'array') && document.childrenOf(node).length > 0;
}
