import { useNavigate } from '@tanstack/react-router';
import { Bookmark, BookmarkPlus, Check, Link2, Pencil } from 'lucide-react';
import { useState } from 'react';
import { withFixedTimes } from '../filter/time-range.ts';
import { ShownText } from '../text/shown-text.tsx';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';
import { useToast } from '../ui/toasts.tsx';
import { formatSearch, parseSearch } from '../url/search.ts';
import { useSearchTexts } from '../url/use-search.ts';
import { EditViews } from './edit-views.tsx';
import { SaveView } from './save-view.tsx';
import { savedAddress, useViews, type View } from './view.ts';

/** Opens, saves and edits the views of a list, and copies a link to what it shows now. */
export function ViewsMenu({ list }: { list: View['list'] }) {
  const views = useViews().filter((view) => view.list === list);
  const [opened, setOpened] = useState<'save' | 'edit'>();
  const copyLink = useCopyLink();
  const close = () => setOpened(undefined);
  return (
    <>
      <Menu align="end" trigger={<Button icon={Bookmark} size="small" text="Views" />}>
        <ViewItems title="My views" views={views.filter(({ isOfSpace }) => !isOfSpace)} />
        <ViewItems title="Views of the space" views={views.filter(({ isOfSpace }) => isOfSpace)} />
        <MenuLabel>This list</MenuLabel>
        <MenuItem icon={BookmarkPlus} onSelect={() => setOpened('save')} text="Save this view …" />
        {views.length > 0 && (
          <MenuItem icon={Pencil} onSelect={() => setOpened('edit')} text="Edit views …" />
        )}
        <MenuItem icon={Link2} onSelect={() => void copyLink()} text="Copy link with fixed times" />
      </Menu>
      <Dialog
        isOpen={opened === 'save'}
        onClose={close}
        title="Save this view"
        description="The filter, the range, the order and the columns of the list, under a name."
      >
        <SaveView list={list} views={views} onClose={close} />
      </Dialog>
      <Dialog isOpen={opened === 'edit'} onClose={close} title="Views">
        <EditViews views={views} />
      </Dialog>
    </>
  );
}

/** A link to what the list shows now, also later. */
function useCopyLink(): () => Promise<void> {
  const search = useSearchTexts();
  const copy = useCopy();
  const toast = useToast();
  return async () => {
    const fixed = formatSearch(withFixedTimes(search, Date.now()));
    if (await copy(`${location.origin}${location.pathname}${fixed}`)) toast('Link copied.');
  };
}

function ViewItems({ title, views }: { title: string; views: readonly View[] }) {
  const current = savedAddress(useSearchTexts());
  const navigate = useNavigate();
  if (views.length === 0) return null;
  return (
    <>
      <MenuLabel>{title}</MenuLabel>
      {views.map(({ id, name, address }) => (
        <MenuItem
          key={id}
          icon={address === current ? Check : Bookmark}
          onSelect={() => void navigate({ to: '.', search: parseSearch(address) })}
        >
          <ShownText text={name} className="max-w-64 truncate" />
        </MenuItem>
      ))}
    </>
  );
}
