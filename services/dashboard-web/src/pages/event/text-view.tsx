import { useMemo } from 'react';
import type { EventText } from '../../event/event-text.ts';
import { toPlainText } from '../../event/plain-text.ts';
import { TextLines } from '../../text/text-lines.tsx';
import { useLines } from '../../text/use-lines.ts';
import { Loading } from '../../ui/states.tsx';

/** Characters in a line. Longer lines are wrapped. */
const lineChars = 120;

/** The whole conversation as numbered lines, each with its own address. */
export function TextView({
  parts,
  line,
  onLine,
}: {
  parts: EventText;
  line: number | undefined;
  onLine: (line: number) => void;
}) {
  const text = useMemo(() => toPlainText(parts), [parts]);
  const lines = useLines(text, lineChars);
  return (
    <div className="flex min-h-0 flex-1 bg-surface max-lg:h-[70vh]">
      {lines === undefined ? (
        <Loading label="Loading the text" />
      ) : (
        <TextLines lines={lines} label="Event as text" line={line} onLine={onLine} />
      )}
    </div>
  );
}
