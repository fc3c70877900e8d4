import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';

interface Confirmed {
  onClose: () => void;
  children: ReactNode;
  /** The button's text. */
  action: string;
  /** A text that the user has to type. */
  typed?: string | undefined;
  onConfirm: () => Promise<unknown>;
}

/** Asks for confirmation of a change that cannot be undone. */
export function ConfirmDialog({ isOpen, title, ...asked }: Confirmed & { isOpen: boolean; title: string }) {
  return (
    <Dialog isOpen={isOpen} onClose={asked.onClose} title={title}>
      <ConfirmForm {...asked} />
    </Dialog>
  );
}

function ConfirmForm({ onClose, children, action, typed, onConfirm }: Confirmed) {
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
