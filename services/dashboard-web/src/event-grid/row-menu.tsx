import { ArrowUpRight, GitCompareArrows, ListFilter, ListTree, MessagesSquare } from 'lucide-react';
import { toggleTicked, useTicked } from '../compare/ticked-events.tsx';
import type { ListedEvent } from '../event/event-query.ts';
import { type Field, labelOf } from '../filter/conditions.ts';
import { useFilterBy } from '../filter/use-filter.ts';
import { useOpen } from '../space/space.tsx';
import { ShownText } from '../text/shown-text.tsx';
import { AnchoredMenu, MenuItem } from '../ui/menu.tsx';

export interface OpenMenu {
  event: ListedEvent;
  anchor: Element;
}

const filterFields = [
  'name',
  'userId',
  'threadId',
  'agentId',
  'errorCode',
] as const satisfies readonly Field[];

interface RowMenuProps {
  menu: OpenMenu | undefined;
  onClose: () => void;
  onOpen: (event: ListedEvent) => void;
}

/** What can be done with an event of a list. One menu for all rows: each row has a button only. */
export function RowMenu({ menu, onClose, onOpen }: RowMenuProps) {
  const openPage = useOpen();
  const filterBy = useFilterBy();
  const ticked = useTicked();
  if (menu === undefined) return null;
  const { event, anchor } = menu;
  const { id, threadId, traceId } = event;
  const values = filterFields.flatMap((field) => {
    const value = event[field];
    return value === null || value === '' ? [] : [{ field, value }];
  });
  return (
    <AnchoredMenu anchor={anchor} onClose={onClose}>
      <MenuItem icon={ArrowUpRight} onSelect={() => onOpen(event)} text="Open event" />
      {threadId !== null && threadId !== '' && (
        <MenuItem
          icon={MessagesSquare}
          onSelect={() => openPage({ page: 'thread', id: threadId, search: { at: id } })}
          text="Open thread"
        />
      )}
      {traceId !== null && (
        <MenuItem
          icon={ListTree}
          onSelect={() => openPage({ page: 'trace', id: traceId, search: { peek: id } })}
          text="Open trace"
        />
      )}
      <MenuItem
        icon={GitCompareArrows}
        onSelect={() => toggleTicked(event)}
        text={ticked.some((one) => one.id === id) ? 'Do not compare' : 'Tick to compare'}
      />
      {values.map(({ field, value }) => (
        <MenuItem
          icon={ListFilter}
          key={field}
          onSelect={() => filterBy({ field, value, isExcluded: false })}
        >
          <span className="max-w-64 truncate">
            Only {labelOf(field).toLowerCase()} <ShownText text={value} />
          </span>
        </MenuItem>
      ))}
    </AnchoredMenu>
  );
}
