import { ArrowUp } from 'lucide-react';
import { useState } from 'react';
import { useInterval } from '../../api/use-interval.ts';
import type { ListedEvent } from '../../event/event-query.ts';
import { useStored } from '../../event/use-stored.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { Button } from '../../ui/button.tsx';
import { countNew } from './count-new.ts';

/** How often the list polls for newer events without a live stream, in milliseconds. */
const pollMs = 5_000;
/** New events are counted up to this number. */
const newestMax = 100;

interface NewPillProps {
  input: ListInput;
  events: readonly ListedEvent[];
  /** Whether the list has no further page. */
  isWhole: boolean;
  onShow: () => void;
}

/**
 * The number of new events that a list does not show yet, from the live stream of its filter. A separate
 * component, so that new events do not render the list.
 */
export function NewPill({ input, events, isWhole, onShow }: NewPillProps) {
  const [stored, setStored] = useState<readonly ListedEvent[]>([]);
  const isFollowing = useStored(input, {
    isEnabled: true,
    onStored: (arrived) => {
      // Events may have been stored between loading the list and the start of the stream.
      if (arrived.length === 0) void newest.refetch();
      else setStored((before) => [...before, ...arrived].slice(-newestMax));
    },
  });
  const newest = useSpaceQuery('events.list', { ...input, limit: newestMax }, { enabled: false });
  useInterval(() => void newest.refetch(), isFollowing ? undefined : pollMs);
  const count = countNew(events, { isWhole, others: [...(newest.data?.events ?? []), ...stored] });
  if (count === 0) return null;
  return (
    <div role="status" className="pointer-events-none absolute inset-x-0 top-10 z-10 flex justify-center">
      <Button
        icon={ArrowUp}
        look="primary"
        size="small"
        className="pointer-events-auto rounded-full px-3 shadow-pop"
        onClick={onShow}
      >
        {count >= newestMax ? `${newestMax}+` : count} new
      </Button>
    </div>
  );
}
