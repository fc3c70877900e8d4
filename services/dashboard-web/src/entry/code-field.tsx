import { TextField } from '../ui/field.tsx';

/** The field for a code of the authenticator app, or a recovery code. */
export function CodeField({
  hasApp,
  autoFocus = false,
  value,
  onChange,
}: {
  hasApp: boolean;
  autoFocus?: boolean;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <TextField
      label={hasApp ? 'Code' : 'Recovery code'}
      name="code"
      hint={hasApp ? 'The six-digit code from your authenticator app, or a recovery code.' : undefined}
      autoComplete="one-time-code"
      autoCapitalize="off"
      spellCheck={false}
      required
      autoFocus={autoFocus}
      value={value}
      onText={onChange}
    />
  );
}
