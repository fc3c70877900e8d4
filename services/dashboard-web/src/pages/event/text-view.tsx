import { useMemo } from 'react';
import type { EventText } from '../../event/event-text.ts';
import { toPlainText } from '../../event/plain-text.ts';
import { splitLines } from '../../json/rows.ts';
import { TextLines } from '../../text/text-lines.tsx';

/** Characters in a line. Longer lines go on in the next one. */
const lineChars = 120;

/** The whole conversation as numbered lines, each with an address. */
export function TextView({
  parts,
  line,
  onLine,
}: {
  parts: EventText;
  line: number | undefined;
  onLine: (line: number) => void;
}) {
  const lines = useMemo(() => splitLines(toPlainText(parts), lineChars), [parts]);
  return (
    <div className="flex min-h-0 flex-1 bg-surface max-lg:h-[70vh]">
      <TextLines lines={lines} label="Event as text" line={line} onLine={onLine} />
    </div>
  );
}
