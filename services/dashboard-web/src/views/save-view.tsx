import { useState } from 'react';
import { hasRole, useSpace } from '../space/space.tsx';
import { useSpaceMutation } from '../space/use-space-query.ts';
import { Form } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { useToast } from '../ui/toasts.tsx';
import { useSearchTexts } from '../url/use-search.ts';
import { savedAddress, type View } from './view.ts';

/** The API's limit. */
export const nameCharsMax = 80;

interface SaveViewProps {
  list: View['list'];
  views: readonly View[];
  onClose: () => void;
}

/** Saves the address of the list for the viewer or for the space. */
export function SaveView({ list, views, onClose }: SaveViewProps) {
  const { role } = useSpace();
  const address = savedAddress(useSearchTexts());
  const [name, setName] = useState('');
  const [owner, setOwner] = useState<'me' | 'space'>('me');
  const toast = useToast();
  const { mutateAsync: save } = useSpaceMutation('views.save', { reload: ['views.list'] });
  const isOfSpace = owner === 'space';
  const isTaken = views.some((view) => view.isOfSpace === isOfSpace && view.name === name.trim());
  const onSubmit = async () => {
    await save({ list, name, address, isOfSpace });
    toast('View saved.');
    onClose();
  };
  return (
    <Form
      action={isTaken ? 'Replace' : 'Save'}
      onSubmit={onSubmit}
      onCancel={onClose}
      isDisabled={name.trim() === ''}
    >
      <TextField
        label="Name"
        hint={isTaken ? 'There is a view with this name: it is replaced.' : undefined}
        maxLength={nameCharsMax}
        value={name}
        onText={setName}
      />
      {hasRole(role, 'member') && (
        <SelectField
          label="For"
          options={[
            { value: 'me', label: 'Only me' },
            { value: 'space', label: 'Everybody in the space' },
          ]}
          value={owner}
          onChange={setOwner}
        />
      )}
    </Form>
  );
}
