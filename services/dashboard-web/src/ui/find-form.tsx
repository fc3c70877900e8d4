import { Search } from 'lucide-react';
import { useRef } from 'react';
import { useShortcuts } from '../settings/settings.ts';
import { classes } from './classes.ts';
import { submits } from './field.tsx';

interface FindFormProps {
  label: string;
  placeholder?: string;
  text: string;
  onText: (text: string) => void;
  /** Enter goes on to the next hit, Shift-Enter to the one before. */
  onFind: (step: 1 | -1) => void;
  status: string;
  className: string;
  inputClassName: string;
}

/** A field, also on `/`, that finds a text in what is shown beside it. */
export function FindForm({ label, placeholder = label, text, onText, onFind, ...shown }: FindFormProps) {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => field.current?.focus() });
  return (
    <form onSubmit={submits(() => onFind(1))} className={classes('flex items-center gap-2', shown.className)}>
      <Search aria-hidden className="size-3.5 text-faint" />
      <input
        ref={field}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !event.shiftKey) return;
          event.preventDefault();
          onFind(-1);
        }}
        aria-label={label}
        placeholder={placeholder}
        className={classes('h-7 bg-transparent text-sm placeholder:text-faint', shown.inputClassName)}
      />
      <span role="status" className="whitespace-nowrap text-faint text-xs">
        {shown.status}
      </span>
    </form>
  );
}
