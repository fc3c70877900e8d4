import { useMemo, useState } from 'react';
import { JsonTree } from '../json/json-tree.tsx';
import { nodeAt } from '../json/node.ts';
import { TextBlock } from '../text/text-block.tsx';
import { Button } from '../ui/button.tsx';

/** A tree for JSON or a string of JSON, otherwise text. */
export function Payload({ text, label }: { text: string; label: string }) {
  const isJson = useMemo(() => isJsonContainer(text), [text]);
  const [isRaw, setRaw] = useState(false);
  if (!isJson) return <TextBlock text={text} />;
  return (
    <div>
      {isRaw ? <TextBlock text={text} isMono /> : <JsonTree text={text} label={label} isEmbedded />}
      <div className="mt-1.5 flex justify-end">
        <Button
          look="quiet"
          size="small"
          onClick={() => setRaw(!isRaw)}
          text={isRaw ? 'Show as tree' : 'Show as text'}
        />
      </div>
    </div>
  );
}

/** A JSON object or array, and nothing else. Long texts are only read to their end. */
export function isJsonContainer(text: string): boolean {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return false;
  try {
    // The tree needs well-formed JSON also where it has not looked yet.
    if (text.length < parsedCharsMax) JSON.parse(text);
    const node = nodeAt(text);
    return text.slice(node.end).trim() === '';
  } catch {
    return false;
  }
}

/** Parsing a longer text would block the page. */
const parsedCharsMax = 200_000;
