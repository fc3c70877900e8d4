import { Check, Copy, type LucideIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { useToast } from './toasts.tsx';

const shownMs = 1_500;

/** Copies a text. Without `children` it is an icon. */
export function CopyButton({
  text,
  label,
  icon: Icon = Copy,
  children,
  onCopied,
}: {
  text: string | (() => string);
  label: string;
  icon?: LucideIcon;
  children?: string;
  onCopied?: () => void;
}) {
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
  const icon = isCopied ? <Check aria-hidden /> : <Icon aria-hidden />;
  if (children === undefined) {
    return (
      <IconButton label={isCopied ? 'Copied' : label} onClick={onClick}>
        {icon}
      </IconButton>
    );
  }
  return (
    <Button size="small" onClick={onClick} aria-label={label}>
      {icon}
      {isCopied ? 'Copied' : children}
    </Button>
  );
}

/** Copies a text to the clipboard; a toast reports a failure. */
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
