import { useState } from 'react';
import { formatBytes } from '../format/number.ts';
import { Button } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { cutOutsideSecret } from './marks.ts';
import { ShownText } from './shown-text.tsx';

/** Characters that are shown at first, and that each further click adds. More at once would stop the page. */
const firstChars = 1_600;
const moreChars = 20_000;

/** A text as it was written, line ends and spaces included. A long one is cut, with a button for more. */
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
  const end = cutOutsideSecret(text, shown);
  const rest = text.length - end;
  return (
    <div>
      <div
        className={classes(
          'whitespace-pre-wrap [overflow-wrap:anywhere]',
          isMono && 'font-mono text-[0.75rem] leading-5',
        )}
      >
        <ShownText text={rest > 0 ? text.slice(0, end) : text} />
        {rest > 0 && '…'}
      </div>
      {text.length > firstMax && (
        <div className="mt-2 flex gap-2">
          {rest > 0 && (
            <Button size="small" onClick={() => setShown(shown + moreChars)}>
              Show {formatBytes(Math.min(rest, moreChars))} more of {formatBytes(text.length)}
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
