import { ShownText } from '../text/shown-text.tsx';

const spaces = 'bg-[radial-gradient(circle,var(--color-faint)_1px,transparent_1.4px)] bg-[length:1ch_100%]';
const tab =
  'bg-[linear-gradient(var(--color-faint),var(--color-faint))] bg-[length:90%_1px] bg-center bg-no-repeat';

/** What is easily overlooked: spaces at the start and the end, more than one, and tabs. */
const hidden = /(^ +| {2,}| +$|\t)/;

/** A changed line in which such spaces and tabs are visible. Copying it gives the original text. */
export function ExactText({ text }: { text: string }) {
  return text.split(hidden).map((part, index) => {
    // A pattern with one group: every second part is a match.
    if (index % 2 === 0) {
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
      return <ShownText key={index} text={part} />;
    }
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
      <span key={index} className={part === '\t' ? tab : spaces}>
        {part}
      </span>
    );
  });
}
