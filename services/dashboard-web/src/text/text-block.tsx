import { useMemo, useState } from 'react';
import { formatBytes } from '../format/number.ts';
import { splitMedia, type TextPiece } from '../media/base64.ts';
import { MediaChip } from '../media/media-chip.tsx';
import { Button } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { useFoundText } from './found-marks.tsx';
import { ignoringCase } from './ignoring-case.ts';
import { cutOutsideSecret } from './marks.ts';
import { ShownText } from './shown-text.tsx';
import { NumberedText } from './text-lines.tsx';

/** Characters shown at first, and at most as one element: laying out more would block the page. */
const firstChars = 1_600;
const moreChars = 20_000;

interface TextBlockProps {
  text: string;
  isMono?: boolean;
  firstMax?: number;
}

/** Shows line ends and spaces. A long text is cut; a click shows more, or all in a window that scrolls. */
export function TextBlock({ text, isMono = false, firstMax = firstChars }: TextBlockProps) {
  const found = useFoundText();
  const firstExtent = useMemo(() => extentWith(text, found, firstMax), [text, found, firstMax]);
  const [chosen, setExtent] = useState<Extent>();
  const extent = chosen ?? firstExtent;
  const pieces = useMemo(() => splitMedia(text), [text]);
  const length = lengthOf(pieces);
  if (extent === 'all')
    return (
      <div>
        <LongText text={text} />
        <ExtentButtons extent={extent} length={length} onChange={setExtent} />
      </div>
    );
  const visible = cut(pieces, extent === 'first' ? firstMax : moreChars);
  const isCut = lengthOf(visible) < length;
  return (
    <div>
      <div
        // The direction of each paragraph follows its own script.
        dir="auto"
        className={classes(
          'whitespace-pre-wrap [overflow-wrap:anywhere] [unicode-bidi:plaintext]',
          isMono && 'font-mono text-[0.75rem] leading-5',
        )}
      >
        {visible.map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change their order.
          <Piece key={index} piece={piece} />
        ))}
        {isCut && '…'}
      </div>
      {length > firstMax && <ExtentButtons extent={extent} length={length} onChange={setExtent} />}
    </div>
  );
}

/** What has to be shown of a text for the reader to see what was searched for. */
function extentWith(text: string, found: string, firstMax: number): Extent {
  const at = found === '' ? -1 : text.search(ignoringCase(found));
  if (at + found.length <= firstMax) return 'first';
  return at + found.length <= moreChars ? 'more' : 'all';
}

type Extent = 'first' | 'more' | 'all';

interface ExtentButtonsProps {
  extent: Extent;
  length: number;
  onChange: (extent: Extent) => void;
}

function ExtentButtons({ extent, length, onChange }: ExtentButtonsProps) {
  return (
    <div className="mt-2 flex gap-2">
      {extent === 'first' && length > moreChars && (
        <Button size="small" onClick={() => onChange('more')} text={`Show ${formatBytes(moreChars)}`} />
      )}
      {(extent === 'first' || (extent === 'more' && length > moreChars)) && (
        <Button
          size="small"
          onClick={() => onChange(length > moreChars ? 'all' : 'more')}
          text={`Show all ${formatBytes(length)}`}
        />
      )}
      {extent !== 'first' && (
        <Button size="small" look="quiet" onClick={() => onChange('first')} text="Show less" />
      )}
    </div>
  );
}

function Piece({ piece: { text, media } }: { piece: TextPiece }) {
  if (media === undefined) return <ShownText text={text} />;
  return (
    <MediaChip media={media} chars={text.length - media.prefix} base64={() => text.slice(media.prefix)} />
  );
}

function charsOf({ text, media }: TextPiece): number {
  return media === undefined ? text.length : chipChars;
}

function lengthOf(pieces: readonly TextPiece[]): number {
  return pieces.reduce((sum, piece) => sum + charsOf(piece), 0);
}

/** What a chip counts of the text that is shown, so that a text of a thousand images is cut, too. */
const chipChars = 20;

/** The first pieces of a text, up to so many characters. */
function cut(pieces: readonly TextPiece[], charsMax: number): TextPiece[] {
  const shown: TextPiece[] = [];
  let left = charsMax;
  for (const piece of pieces) {
    if (left <= 0) break;
    shown.push(
      piece.media === undefined ? { text: piece.text.slice(0, cutOutsideSecret(piece.text, left)) } : piece,
    );
    left -= charsOf(piece);
  }
  return shown;
}

/** Scrolls; only the visible lines are in the page. */
function LongText({ text }: { text: string }) {
  const [line, setLine] = useState<number>();
  return (
    <div className="flex h-[70vh] flex-col overflow-hidden rounded-md border border-line">
      <NumberedText text={text} label="The whole text" line={line} onLine={setLine} />
    </div>
  );
}
