import { type ComponentProps, type FormEvent, type ReactNode, useId } from 'react';
import { classes } from './classes.ts';

export const inputClasses =
  'h-8 w-full rounded-md border border-edge bg-surface px-2.5 text-sm text-ink placeholder:text-faint focus-visible:border-accent focus-visible:outline-offset-0';

interface FieldProps {
  label: string;
  /** A sentence below the field. */
  hint?: ReactNode;
  problem?: string | undefined;
}

interface TextFieldProps extends FieldProps, ComponentProps<'input'> {
  onText: (text: string) => void;
}

export function TextField({ label, hint, problem, className, onText, ...rest }: TextFieldProps) {
  const id = useId();
  const isDescribed = hint !== undefined || problem !== undefined;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <input
        id={id}
        className={classes(inputClasses, problem !== undefined && 'border-bad-line')}
        aria-invalid={problem !== undefined}
        aria-describedby={isDescribed ? `${id}-hint` : undefined}
        autoComplete="off"
        onChange={(event) => onText(event.target.value)}
        {...rest}
      />
      {isDescribed && (
        <p id={`${id}-hint`} className={classes('mt-1 text-xs', problem ? 'text-bad' : 'text-faint')}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

interface PasswordFieldProps extends Pick<ComponentProps<'input'>, 'autoFocus'> {
  label: string;
  /** A password that is chosen now. */
  isNew?: boolean;
  value: string;
  onText: (text: string) => void;
}

export function PasswordField({ isNew = false, ...field }: PasswordFieldProps) {
  return (
    <TextField
      type="password"
      name="password"
      autoComplete={isNew ? 'new-password' : 'current-password'}
      hint={isNew ? 'At least 8 characters.' : undefined}
      required
      {...field}
    />
  );
}

interface TextAreaFieldProps {
  label: string;
  value: string;
  onText: (text: string) => void;
  charsMax: number;
}

/** A text field of several lines. */
export function TextAreaField({ label, value, onText, charsMax }: TextAreaFieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <textarea
        id={id}
        rows={4}
        maxLength={charsMax}
        className={classes(inputClasses, 'h-auto py-1.5')}
        value={value}
        onChange={(event) => onText(event.target.value)}
      />
    </div>
  );
}

export function SelectField<Value extends string>({
  label,
  hint,
  options,
  value,
  onChange,
  className,
  isLabelHidden = false,
}: FieldProps & {
  options: readonly { value: Value; label: string }[];
  value: Value;
  onChange: (value: Value) => void;
  className?: string;
  isLabelHidden?: boolean;
}) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'mb-1 block text-sm font-medium'}>
        {label}
      </label>
      <select
        id={id}
        className={classes(inputClasses, 'pr-1')}
        value={value}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.target.value);
          if (chosen !== undefined) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {hint !== undefined && <p className="mt-1 text-xs text-faint">{hint}</p>}
    </div>
  );
}

/** A handler for the `submit` of a form that stays on the page. */
export function submits(run: () => unknown): (event: FormEvent) => void {
  return (event) => {
    event.preventDefault();
    void run();
  };
}
