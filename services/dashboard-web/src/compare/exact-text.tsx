import { ShownText } from '../text/shown-text.tsx';

const spaces = 'bg-[radial-gradient(circle,var(--color-faint)_1px,transparent_1.4px)] bg-[length:1ch_100%]';
const tab =
  'bg-[linear-gradient(var(--color-faint),var(--color-faint))] bg-[length:90%_1px] bg-center bg-no-repeat';

/** A changed line with visible spaces and tabs. Copying it gives the original text. */
export function ExactText({ text }: { text: string }) {
  return text.split(/( +|\t)/).map((part, index) => {
    if (!/^[ \t]/.test(part)) {
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
