import { Dialog as Base } from '@base-ui/react/dialog';
import { Link, useLocation } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { type ComponentProps, type FormEvent, type ReactNode, useContext, useRef, useState } from 'react';
import { ConfirmationContext } from '../api/confirmation.ts';
import { describeFailure } from '../api/failure.ts';
import { Button, type ButtonLook, IconButton } from './button.tsx';
import { classes } from './classes.ts';
import { TextField } from './field.tsx';

const popupClasses =
  'fixed top-[12vh] left-1/2 max-h-[80vh] w-[calc(100vw-2rem)] -translate-x-1/2 overflow-y-auto animate-appear rounded-xl bg-raised p-5 shadow-pop outline-none';
const widths = { normal: 'max-w-md', wide: 'max-w-2xl' };

interface DialogProps extends DialogContent {
  isOpen: boolean;
  onClose: () => void;
  width?: keyof typeof widths | undefined;
  isOnTop?: boolean;
}

/** Modal; focuses its first field. Esc closes it, and without a form a click outside. Closed, it unmounts. */
export function Dialog({ isOpen, onClose, width = 'normal', isOnTop = false, ...content }: DialogProps) {
  // A click on the question of the confirmation, or Esc there, is not meant for the dialog below it.
  const { isOpen: isConfirming } = useContext(ConfirmationContext);
  const popup = useRef<HTMLDivElement>(null);
  const onOpenChange = (open: boolean, { reason }: { reason: string }) => {
    // What is typed into a form would be lost.
    const isStray = reason === 'outside-press' && popup.current?.querySelector('form') != null;
    if (!open && !isConfirming && !isStray) onClose();
  };
  return (
    <Base.Root open={isOpen} onOpenChange={onOpenChange}>
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
          className={classes(popupClasses, isOnTop ? 'z-70' : 'z-50', widths[width])}
        >
          <DialogContent {...content} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface DialogContent {
  title: string;
  description?: ReactNode;
  children: ReactNode;
}

function DialogContent({ title, description, children }: DialogContent) {
  return (
    <>
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
    </>
  );
}

interface DialogButtonProps extends Omit<ComponentProps<typeof Button>, 'children' | 'onClick' | 'title'> {
  text: string;
  title: string;
  description?: string;
  width?: keyof typeof widths;
  children: (close: () => void) => ReactNode;
}

/** `children` gets the function that closes the dialog. */
export function DialogButton({ text, title, description, width, children, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)} text={text} />
      <Dialog isOpen={isOpen} onClose={close} title={title} description={description} width={width}>
        {children(close)}
      </Dialog>
    </>
  );
}

interface FormProps {
  /** The text of the button that sends the form. */
  action: string;
  /** The button's text while `onSubmit` runs. */
  running?: string;
  look?: ButtonLook;
  className?: string;
  onSubmit: () => unknown;
  /** Closes the dialog that the form is in. */
  onCancel?: () => void;
  isDisabled?: boolean;
  children?: ReactNode;
}

/** A form that cannot be sent again while `onSubmit` runs, and says why it failed. */
export function Form({
  action,
  running = action,
  look = 'primary',
  className,
  onSubmit,
  onCancel,
  isDisabled = false,
  children,
}: FormProps) {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setPending(true);
    setError(undefined);
    try {
      await onSubmit();
    } catch (thrown) {
      setError(thrown);
    }
    setPending(false);
  };
  return (
    <form onSubmit={submit} className={classes('flex flex-col gap-4', className)}>
      {children}
      <FormFailure error={error} />
      <div className={onCancel === undefined ? 'contents' : 'flex justify-end gap-2'}>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button
          look={look}
          type="submit"
          disabled={isDisabled || isPending}
          text={isPending ? running : action}
        />
      </div>
    </form>
  );
}

export function FormFailure({ error }: { error: unknown }) {
  const { href, pathname } = useLocation();
  if (error === undefined || error === null) return null;
  const { kind, message } = describeFailure(error);
  // A wrong password on the sign-in page is `signed-out` too.
  const hasEnded = kind === 'signed-out' && pathname.startsWith('/s/');
  return (
    <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad text-sm">
      {hasEnded ? (
        <>
          Your session has ended.{' '}
          <Link to="/sign-in" search={{ to: href }} target="_blank" className="underline">
            Sign in
          </Link>{' '}
          in another tab, then send this again.
        </>
      ) : (
        message
      )}
    </p>
  );
}

interface Confirmation {
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The button's text. */
  action: string;
  /** A text that the user has to type. */
  typed?: string | undefined;
  onConfirm: () => Promise<unknown>;
}

interface ConfirmedProps extends Confirmation {
  button: (ask: () => void) => ReactNode;
}

/** Asks before a change that cannot be undone. `button` draws the button, which calls what asks. */
export function Confirmed({ title, button, ...asked }: ConfirmedProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      {button(() => setOpen(true))}
      <Dialog isOpen={isOpen} onClose={close} title={title}>
        <ConfirmForm {...asked} onClose={close} />
      </Dialog>
    </>
  );
}

interface ConfirmFormProps extends Omit<Confirmation, 'title'> {
  onClose: () => void;
}

function ConfirmForm({ children, action, typed, onConfirm, onClose }: ConfirmFormProps) {
  const [text, setText] = useState('');
  return (
    <Form
      action={action}
      look="danger"
      onSubmit={() => onConfirm().then(onClose)}
      onCancel={onClose}
      isDisabled={typed !== undefined && text !== typed}
    >
      <div className="text-muted text-sm">{children}</div>
      {typed !== undefined && (
        <TextField label={`Type “${typed}” to confirm`} value={text} onText={setText} />
      )}
    </Form>
  );
}
