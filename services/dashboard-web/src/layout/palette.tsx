import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useSettled } from '../api/use-settled.ts';
import { FoundExcerpt } from '../event/excerpt.tsx';
import { useFoundMarks } from '../text/found-marks.tsx';
import { ShownText } from '../text/shown-text.tsx';
import type { Destination, DestinationGroup } from './destinations.ts';
import { useDestinations } from './use-destinations.ts';

interface PaletteProps {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

export function Palette({ isOpen, onOpenChange }: PaletteProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => onOpenChange(open)}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 animate-appear bg-[oklch(0.15_0.02_245/0.45)]" />
        <Dialog.Popup
          aria-label="Go to a page, or find an id"
          className="fixed top-[14vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 animate-appear overflow-hidden rounded-xl bg-raised shadow-pop outline-none"
        >
          <Choice onClose={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const nothing = 'No page or space has this name, and nothing in this space has this id.';

function Choice({ onClose }: { onClose: () => void }) {
  const [query, setQuery] = useState('');
  const { groups, isLooking } = useDestinations(query);
  const list = useRef<HTMLDivElement>(null);
  useFoundMarks(list, useSettled(query.trim()));
  const choose = ({ go }: Destination) => {
    onClose();
    go();
  };
  const onKeyDown = useFirstChoice(groups, isLooking, choose);
  return (
    <Autocomplete.Root
      inline
      open
      mode="none"
      items={groups}
      value={query}
      onValueChange={setQuery}
      autoHighlight="always"
      keepHighlight
      itemToStringValue={(item: Destination) => item.label}
    >
      <div className="flex items-center gap-2.5 border-line border-b px-4">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <Autocomplete.Input
          aria-label="Page, space, or id"
          placeholder="Page, space, id, or a text in any event"
          className="h-12 w-full bg-transparent outline-none placeholder:text-faint"
          spellCheck={false}
          autoComplete="off"
          onKeyDown={onKeyDown}
        />
      </div>
      <Autocomplete.Empty className="text-center text-muted text-sm">
        <div className="px-4 py-8">{isLooking ? 'Searching …' : nothing}</div>
      </Autocomplete.Empty>
      <Autocomplete.List ref={list} className="max-h-[50vh] overflow-y-auto data-[empty]:hidden p-1.5">
        {(group: DestinationGroup) => (
          <Autocomplete.Group key={group.title} items={group.items} className="not-first:mt-1.5">
            <Autocomplete.GroupLabel className="label px-2.5 py-1">{group.title}</Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(item: Destination) => <Item key={item.key} item={item} onChoose={choose} />}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

/** Enter after a pasted id: what has the id is only known a moment later. */
function useFirstChoice(
  [first]: readonly DestinationGroup[],
  isLooking: boolean,
  choose: (item: Destination) => void,
) {
  const [isWaiting, setWaiting] = useState(false);
  const isUndecided = isLooking && (first === undefined || first.title === 'Search');
  const chooseFirst = useEffectEvent(() => first?.items[0] && choose(first.items[0]));
  useEffect(() => {
    if (isWaiting && !isUndecided) chooseFirst();
  }, [isWaiting, isUndecided]);
  return (event: KeyboardEvent & { preventBaseUIHandler: () => void }) => {
    const isTooEarly = event.key === 'Enter' && isUndecided;
    setWaiting(isTooEarly);
    if (isTooEarly) event.preventBaseUIHandler();
  };
}

function Item({ item, onChoose }: { item: Destination; onChoose: (item: Destination) => void }) {
  return (
    <Autocomplete.Item
      value={item}
      onClick={() => onChoose(item)}
      className="flex min-h-9 cursor-default items-center gap-3 rounded-md px-2.5 py-1 text-sm outline-none select-none data-[highlighted]:bg-hover"
    >
      <span className="min-w-0 flex-1">
        <ShownText text={item.label} className="block truncate" />
        {item.excerpt !== undefined && (
          <span className="flex text-xs">
            <FoundExcerpt excerpt={item.excerpt} />
          </span>
        )}
      </span>
      {item.hint !== undefined && <span className="text-faint text-xs">{item.hint}</span>}
    </Autocomplete.Item>
  );
}
