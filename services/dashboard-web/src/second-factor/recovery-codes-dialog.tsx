import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** New recovery codes. They are shown only here. */
export function RecoveryCodesDialog({
  codes,
  onClose,
}: {
  codes: readonly string[] | undefined;
  onClose: () => void;
}) {
  return (
    <Dialog
      isOpen={codes !== undefined}
      onClose={onClose}
      title="Your recovery codes"
      description="Keep them where you can find them without your phone. Each signs in once in place of the second factor. Weir stores only hashes and cannot show them again. Earlier codes no longer work."
    >
      <ul className="grid grid-cols-1 gap-x-6 gap-y-1 rounded-md border border-line bg-sunken px-4 py-3 font-mono text-sm sm:grid-cols-2">
        {codes?.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="mt-4 flex justify-end gap-2">
        <CopyButton label="Copy all codes" text={() => (codes ?? []).join('\n')}>
          Copy all
        </CopyButton>
        <Button size="small" look="primary" onClick={onClose}>
          I have saved them
        </Button>
      </div>
    </Dialog>
  );
}
