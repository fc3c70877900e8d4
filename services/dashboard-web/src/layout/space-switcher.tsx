import { useNavigate } from '@tanstack/react-router';
import { Check, ChevronsUpDown, Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useMe } from '../space/me.ts';
import { hasRole } from '../space/role.ts';
import { useSpace } from '../space/space.ts';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';
import { CreateSpaceDialog, RenameSpaceDialog } from './space-dialogs.tsx';

/** The current space, and a menu of the user's other spaces. Owners can create spaces, admins can rename the current one. */
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
          <MenuItem onSelect={() => setDialog('rename')}>
            <Pencil aria-hidden />
            Rename this space
          </MenuItem>
        )}
        {spaces.some(({ role }) => role === 'owner') && (
          <MenuItem onSelect={() => setDialog('create')}>
            <Plus aria-hidden />
            New space
          </MenuItem>
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
