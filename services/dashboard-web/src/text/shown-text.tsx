import { type HTMLAttributes, useState } from 'react';
import { splitText, type TextPart } from './marks.ts';

/** Invisible characters are made visible, secrets are masked until clicked. With attributes in a `span`. */
export function ShownText({ text, ...span }: { text: string } & HTMLAttributes<HTMLSpanElement>) {
  if (Object.keys(span).length > 0)
    return (
      <span {...span}>
        <ShownText text={text} />
      </span>
    );
  const parts = splitText(text);
  const [only] = parts;
  if (parts.length <= 1) return only === undefined ? null : <Part part={only} />;
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
  return parts.map((part, index) => <Part key={index} part={part} />);
}

function Part({ part }: { part: TextPart }) {
  if (part.kind === 'plain') return part.text;
  if (part.kind === 'secret') return <Secret text={part.text} />;
  return (
    <span
      className="mx-px rounded-sm bg-warn-soft px-0.5 font-mono text-[0.85em] text-warn"
      title="Invisible character"
    >
      {part.name}
    </span>
  );
}

function Secret({ text }: { text: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <button
      type="button"
      className="rounded-sm bg-warn-soft px-1 font-mono text-warn [font-size:inherit]"
      aria-label={isShown ? 'Hide secret' : 'Show masked secret'}
      title={isShown ? 'Hide' : 'Possible secret. Click to show it.'}
      onClick={(event) => {
        event.stopPropagation();
        setShown(!isShown);
      }}
    >
      {isShown ? text : maskSecret(text)}
    </button>
  );
}

/** Visible characters only and masked secrets, for titles and accessible names. */
export function describeText(text: string): string {
  return splitText(text)
    .map((part) =>
      part.kind === 'mark' ? part.name : part.kind === 'secret' ? maskSecret(part.text) : part.text,
    )
    .join('');
}

const shownChars = 5;

function maskSecret(secret: string): string {
  return `${secret.slice(0, shownChars)}••••••••`;
}
