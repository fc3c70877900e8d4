import { useNavigate } from '@tanstack/react-router';
import { Check, ChevronsUpDown, Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useApiMutation } from '../api/query.ts';
import { hasRole, useMe, useSpace } from '../space/space.tsx';
import { useSpaceMutation } from '../space/use-space-query.ts';
import { Dialog, Form } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';

/** Owners can create spaces, admins rename the current one. */
export function SpaceSwitcher() {
  const { spaces } = useMe();
  const current = useSpace();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'create' | 'rename'>();
  const close = () => setDialog(undefined);
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            className="card flex h-10 w-full items-center gap-2 px-2.5 text-left hover:border-edge"
          >
            <SpaceMark name={current.name} />
            <span className="sr-only">Space</span>
            <span className="min-w-0 flex-1 truncate font-medium text-sm">{current.name}</span>
            <ChevronsUpDown aria-hidden className="size-4 text-faint" />
          </button>
        }
      >
        <MenuLabel>Your spaces</MenuLabel>
        {spaces.map(({ id, name, role }) => (
          <MenuItem key={id} onSelect={() => void navigate({ to: '/s/$spaceId', params: { spaceId: id } })}>
            <SpaceMark name={name} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="text-faint text-xs">{role}</span>
            {id === current.id && <Check aria-label="current" />}
          </MenuItem>
        ))}
        {hasRole(current.role, 'admin') && (
          <MenuItem icon={Pencil} onSelect={() => setDialog('rename')} text="Rename this space" />
        )}
        {spaces.some(({ role }) => role === 'owner') && (
          <MenuItem icon={Plus} onSelect={() => setDialog('create')} text="New space" />
        )}
      </Menu>
      <RenameSpaceDialog isOpen={dialog === 'rename'} onClose={close} />
      <CreateSpaceDialog isOpen={dialog === 'create'} onClose={close} />
    </>
  );
}

function SpaceMark({ name }: { name: string }) {
  return (
    <span
      aria-hidden
      className="grid size-5 shrink-0 place-items-center rounded-sm bg-accent-soft font-semibold text-accent text-xs uppercase"
    >
      {[...name.trim()][0] ?? '·'}
    </span>
  );
}

interface DialogState {
  isOpen: boolean;
  onClose: () => void;
}

function RenameSpaceDialog({ isOpen, onClose }: DialogState) {
  const { name } = useSpace();
  const { mutateAsync } = useSpaceMutation('spaces.rename', { reload: ['me'] });
  const rename = (next: string) => mutateAsync({ name: next }).then(onClose);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Rename the space">
      <NameForm first={name} action="Rename" onName={rename} onClose={onClose} />
    </Dialog>
  );
}

function CreateSpaceDialog({ isOpen, onClose }: DialogState) {
  const navigate = useNavigate();
  const { mutateAsync } = useApiMutation('spaces.create', { reload: ['me'] });
  const create = async (name: string) => {
    const { spaceId } = await mutateAsync({ name });
    onClose();
    await navigate({ to: '/s/$spaceId', params: { spaceId } });
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New space"
      description="A space has its own events, keys and members. You become its owner."
    >
      <NameForm first="" action="Create" onName={create} onClose={onClose} />
    </Dialog>
  );
}

interface NameFormProps {
  first: string;
  action: string;
  onName: (name: string) => Promise<void>;
  onClose: () => void;
}

function NameForm({ first, action, onName, onClose }: NameFormProps) {
  const [name, setName] = useState(first);
  const trimmed = name.trim();
  return (
    <Form action={action} onSubmit={() => onName(trimmed)} onCancel={onClose} isDisabled={trimmed === ''}>
      <TextField label="Name" required value={name} onText={setName} />
    </Form>
  );
}
