import { Search } from 'lucide-react';
import { useRef } from 'react';
import { useShortcuts } from '../settings/settings.ts';
import { classes } from './classes.ts';
import { inputClasses, submits } from './field.tsx';

interface SearchFieldProps {
  /** The field's name, also shown in it while it is empty. */
  label: string;
  value: string;
  onSearch: (text: string | undefined) => void;
}

/** Searches a list when Enter is pressed; an empty field shows all. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => field.current?.focus() });
  const search = () => onSearch(field.current?.value.trim() || undefined);
  return (
    <search className="min-w-0 max-sm:w-full">
      <form onSubmit={submits(search)} className="relative">
        <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
        <input
          ref={field}
          // A new address resets the text.
          key={value}
          type="search"
          defaultValue={value}
          aria-label={label}
          placeholder={label}
          spellCheck={false}
          autoComplete="off"
          enterKeyHint="search"
          maxLength={256}
          onChange={({ target }) => target.value === '' && onSearch(undefined)}
          className={`${inputClasses} pl-8 sm:w-72`}
        />
      </form>
    </search>
  );
}

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
