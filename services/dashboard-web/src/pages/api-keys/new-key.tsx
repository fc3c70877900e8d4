import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';

const shownChars = 9;

/** A newly created key. It is shown only here, and masked once copied. */
export function NewKey({ apiKey, onDone }: { apiKey: string; onDone: () => void }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted text-sm">
        Copy the key now. Weir stores only a hash and cannot show it again.
      </p>
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-xs break-all">
          {isCopied ? `${apiKey.slice(0, shownChars)}${'•'.repeat(24)}${apiKey.slice(-4)}` : apiKey}
        </code>
        <CopyButton label="Copy the key" text={apiKey} onCopied={() => setCopied(true)}>
          Copy
        </CopyButton>
      </div>
      <div className="flex justify-end">
        <Button look={isCopied ? 'primary' : 'plain'} onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
