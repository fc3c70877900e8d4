import { ShownOnce } from '../../ui/copy-button.tsx';

/** A newly created key. It is shown only here, and masked once copied. */
export function NewKey({ apiKey, onDone }: { apiKey: string; onDone: () => void }) {
  return (
    <ShownOnce
      note="Copy the key now. Weir stores only a hash and cannot show it again."
      text={apiKey}
      masked={`${apiKey.slice(0, 9)}${'•'.repeat(24)}${apiKey.slice(-4)}`}
      copyLabel="Copy the key"
      onClose={onDone}
    />
  );
}
