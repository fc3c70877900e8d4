import { useMemo } from 'react';
import { Conversation } from '../event/conversation.tsx';
import { EventFields } from '../event/event-fields.tsx';
import type { WholeEvent } from '../event/event-query.ts';
import { readEventText } from '../event/event-text.ts';
import { formatDuration } from '../format/number.ts';
import { ShownText } from '../text/shown-text.tsx';
import { StateBadge, TypeBadge } from '../ui/badge.tsx';
import { CallCost } from './call-cost.tsx';
import { TokenBar } from './token-bar.tsx';

/** An event in one column, shown beside a list. */
export function EventSummary({ event }: { event: WholeEvent }) {
  const parts = useMemo(() => readEventText(event.event), [event.event]);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <TypeBadge type={event.type} />
        <StateBadge state={event.state} />
        <span className="min-w-0 truncate font-semibold">
          <ShownText text={event.name ?? 'unnamed'} />
        </span>
        <span className="text-muted text-sm">{formatDuration(event.durationMs)}</span>
      </div>
      {parts.llm !== undefined && (
        <div>
          <TokenBar usage={parts.llm.usage} />
          <CallCost event={event} usage={parts.llm.usage} />
        </div>
      )}
      <Conversation event={event} parts={parts} />
      <div className="card p-3">
        <EventFields event={event} parts={parts} />
      </div>
    </div>
  );
}
