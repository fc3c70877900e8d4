import { useMemo, useState } from 'react';
import { formatBytes } from '../format/number.ts';
import { splitMedia, type TextPiece } from '../media/base64.ts';
import { MediaChip } from '../media/media-chip.tsx';
import { Button } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { cutOutsideSecret } from './marks.ts';
import { ShownText } from './shown-text.tsx';

/** Characters that are shown at first, and that each further click adds. More at once would stop the page. */
const firstChars = 1_600;
const moreChars = 20_000;

/**
 * A text as it was written, line ends and spaces included. A long one is cut, with a button for more. Base64 in it is a chip,
 * and does not count.
 */
export function TextBlock({
  text,
  isMono = false,
  firstMax = firstChars,
}: {
  text: string;
  isMono?: boolean;
  firstMax?: number;
}) {
  const [shown, setShown] = useState(firstMax);
  const pieces = useMemo(() => splitMedia(text), [text]);
  const visible = cut(pieces, shown);
  const length = lengthOf(pieces);
  const rest = length - lengthOf(visible);
  return (
    <div>
      <div
        className={classes(
          'whitespace-pre-wrap [overflow-wrap:anywhere]',
          isMono && 'font-mono text-[0.75rem] leading-5',
        )}
      >
        {visible.map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change their order.
          <Piece key={index} piece={piece} />
        ))}
        {rest > 0 && '…'}
      </div>
      {length > firstMax && (
        <div className="mt-2 flex gap-2">
          {rest > 0 && (
            <Button size="small" onClick={() => setShown(shown + moreChars)}>
              Show {formatBytes(Math.min(rest, moreChars))} more of {formatBytes(length)}
            </Button>
          )}
          {shown > firstMax && (
            <Button size="small" look="quiet" onClick={() => setShown(firstMax)}>
              Show less
            </Button>
          )}
        </div>
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

/** What a chip takes of the text that is shown: a text of a thousand images is cut, too. */
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
