import { Search } from 'lucide-react';
import { useRef } from 'react';
import { useShortcuts } from '../settings/settings.ts';
import { inputClasses, submits } from './field.tsx';

interface SearchFieldProps {
  /** Also shown in the empty field. */
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
