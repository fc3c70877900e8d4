import {
  Braces,
  ChevronLeft,
  ChevronRight,
  Copy,
  FileText,
  GitCompareArrows,
  History,
  Link2,
  Terminal,
} from 'lucide-react';
import type { WholeEvent } from '../../event/event-query.ts';
import type { EventText } from '../../event/event-text.ts';
import { toMarkdown } from '../../event/plain-text.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { useShortcuts } from '../../settings/settings.ts';
import { useOpen } from '../../space/space.tsx';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { useCopy } from '../../ui/copy-button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { toCurl } from './curl.ts';

/** Buttons for the previous and next event of the list in the address, also on `[` and `]`. */
export function Neighbours({ event }: { event: WholeEvent }) {
  const { input, search } = useFilter();
  const openPage = useOpen();
  // A text was searched for in payloads, which the neighbours are not.
  const { text: _, ...filter }: ListInput = typeof input === 'string' ? {} : input;
  const { data } = useSpaceQuery('events.neighbours', { ...filter, id: event.id });
  const open = (id: string | undefined) => {
    if (id === undefined) return;
    openPage({ page: 'event', id, search });
  };
  const [earlier, later] = [data?.inList.older?.id, data?.inList.newer?.id];
  useShortcuts({ '[': () => open(earlier), ']': () => open(later) });
  return (
    <div className="flex">
      <IconButton
        icon={ChevronLeft}
        label="Earlier event ([)"
        disabled={earlier === undefined}
        onClick={() => open(earlier)}
      />
      <IconButton
        icon={ChevronRight}
        label="Later event (])"
        disabled={later === undefined}
        onClick={() => open(later)}
      />
    </div>
  );
}

export function CompareMenu({ event }: { event: WholeEvent }) {
  const openPage = useOpen();
  const { id, threadId, type } = event;
  // Only events of the same type: a prompt and a tool call have nothing in common.
  const { data } = useSpaceQuery(
    'events.neighbours',
    { id, type, threadId: threadId ?? '' },
    { enabled: threadId !== null && threadId !== '' },
  );
  const previous = data?.inList.older?.id;
  const open = (search: Record<string, string>) => openPage({ page: 'compare', search });
  return (
    <Menu align="end" trigger={<Button icon={GitCompareArrows} size="small" text="Compare" />}>
      {previous !== undefined && (
        <MenuItem
          icon={History}
          onSelect={() => open({ a: previous, b: id })}
          text="With the previous event of the thread"
        />
      )}
      <MenuItem icon={GitCompareArrows} onSelect={() => open({ b: id })} text="With another event by id" />
    </Menu>
  );
}

export function CopyMenu({ event, parts }: { event: WholeEvent; parts: EventText }) {
  const copy = useCopy();
  const toast = useToast();
  const offer = (what: string, text: () => string) => async () => {
    if (await copy(text())) toast(`${what} copied.`);
  };
  return (
    <Menu align="end" trigger={<Button icon={Copy} size="small" text="Copy" />}>
      <MenuItem icon={Braces} onSelect={offer('JSON', () => event.event)} text="JSON, as sent" />
      <MenuItem icon={FileText} onSelect={offer('Markdown', () => toMarkdown(parts))} text="Markdown" />
      <MenuItem
        icon={Terminal}
        onSelect={offer('curl command', () => toCurl(event.event))}
        text="curl command to resend it"
      />
      <MenuItem icon={Link2} onSelect={offer('Link', () => window.location.href)} text="Link to this page" />
    </Menu>
  );
}
