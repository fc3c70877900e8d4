import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useContext, useRef } from 'react';
import { ConfirmationContext } from '../api/confirmation.ts';
import { IconButton } from './button.tsx';
import { classes } from './classes.ts';

/**
 * A modal dialog. It focuses its first field. Esc and a click outside close it; the focus returns to the
 * previous element. Its content is mounted while it is open.
 */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  children,
  width = 'normal',
  isOnTop = false,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  width?: 'normal' | 'wide';
  /** Whether it covers other dialogs. */
  isOnTop?: boolean;
}) {
  // A click on the question of the confirmation, or Esc there, is not meant for the dialog below it.
  const { isOpen: isConfirming } = useContext(ConfirmationContext);
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && !isConfirming && onClose()}>
      <Base.Portal>
        <Base.Backdrop
          className={classes(
            'fixed inset-0 animate-appear bg-[oklch(0.15_0.02_245/0.45)]',
            isOnTop ? 'z-60' : 'z-40',
          )}
        />
        <Base.Popup
          ref={popup}
          // Without a field, the first control: the button that closes the dialog.
          initialFocus={() => popup.current?.querySelector<HTMLElement>('input, select, textarea') ?? true}
          className={classes(
            'fixed top-[12vh] left-1/2 max-h-[80vh] w-[calc(100vw-2rem)] -translate-x-1/2 overflow-y-auto',
            'animate-appear rounded-xl bg-raised p-5 shadow-pop outline-none',
            isOnTop ? 'z-70' : 'z-50',
            width === 'wide' ? 'max-w-2xl' : 'max-w-md',
          )}
        >
          <div className="mb-4 flex items-start gap-3">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {description !== undefined && (
                <Base.Description className="mt-1 text-sm text-muted">{description}</Base.Description>
              )}
            </div>
            <Base.Close render={<IconButton icon={X} label="Close" className="-mt-1 -mr-1" />} />
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
