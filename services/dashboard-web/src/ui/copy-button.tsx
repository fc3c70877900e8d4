import { Check, Copy, type LucideIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { useToast } from './toasts.tsx';

const shownMs = 1_500;

interface CopyButtonProps {
  text: string | (() => string);
  label: string;
  /** What the button says; without it the button is an icon. */
  shown?: string;
  icon?: LucideIcon;
  onCopied?: () => void;
}

/** Copies a text. */
export function CopyButton({ text, label, shown, icon = Copy, onCopied }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = useCopy();
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const onClick = async () => {
    if (!(await copy(typeof text === 'string' ? text : text()))) return;
    setCopied(true);
    onCopied?.();
  };
  const shownIcon = isCopied ? Check : icon;
  if (shown === undefined)
    return <IconButton icon={shownIcon} label={isCopied ? 'Copied' : label} onClick={onClick} />;
  const title = isCopied ? 'Copied' : shown;
  return <Button icon={shownIcon} size="small" onClick={onClick} aria-label={label} text={title} />;
}

/** A toast reports a failure. */
export function useCopy(): (text: string) => Promise<boolean> {
  const toast = useToast();
  return async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      toast('The browser does not allow this page to use the clipboard.');
      return false;
    }
  };
}

interface ShownOnceProps {
  note: string;
  text: string;
  masked?: string;
  copyLabel: string;
  onClose: () => void;
}

/** A secret in a dialog, with a button that copies it. Once it is copied, `masked` is shown, if given. */
export function ShownOnce({ note, text, masked = text, copyLabel, onClose }: ShownOnceProps) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted text-sm">{note}</p>
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-xs break-all">
          {isCopied ? masked : text}
        </code>
        <CopyButton label={copyLabel} text={text} onCopied={() => setCopied(true)} shown="Copy" />
      </div>
      <div className="flex justify-end">
        <Button look={isCopied ? 'primary' : 'plain'} onClick={onClose} text="Done" />
      </div>
    </div>
  );
}
