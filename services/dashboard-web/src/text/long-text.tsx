import { useState } from 'react';
import { Loading } from '../ui/states.tsx';
import { TextLines } from './text-lines.tsx';
import { useLines } from './use-lines.ts';

/** Characters in a line. Longer lines are wrapped. */
const lineChars = 120;

/** A text of megabytes in a window that scrolls, of which only the visible lines are in the page. */
export function LongText({ text }: { text: string }) {
  const lines = useLines(text, lineChars);
  const [line, setLine] = useState<number>();
  if (lines === undefined) return <Loading label="Loading the text" />;
  return (
    <div className="flex h-[70vh] flex-col overflow-hidden rounded-md border border-line">
      <TextLines lines={lines} label="The whole text" line={line} onLine={setLine} />
    </div>
  );
}
