import { useQuery } from '@tanstack/react-query';
import { ScrollText } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ActivityFacts } from '../../activity/activity-facts.tsx';
import { apiQuery } from '../../api/query.ts';
import { eventQuery } from '../../event/event-query.ts';
import { readEventText } from '../../event/event-text.ts';
import { Prose } from '../../event/prose.tsx';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { ThreadTurn } from './use-thread.ts';

/** The user, the size, the cost and the duration of a thread, and its system text. */
export function ThreadHead({ threadId, turns }: { threadId: string; turns: readonly ThreadTurn[] }) {
  const { id: spaceId } = useSpace();
  const { data } = useQuery({ ...apiQuery('threads.get', { spaceId, threadId }), retry: false });
  return (
    <span className="flex min-h-6 flex-wrap items-center gap-x-3">
      {data !== undefined && <ActivityFacts activity={data} showsUser />}
      <SystemText turns={turns} />
    </span>
  );
}

/** The system text of the last call, in a dialog: it may be long, and is the same in most turns. */
function SystemText({ turns }: { turns: readonly ThreadTurn[] }) {
  const { id: spaceId } = useSpace();
  const [isOpen, setOpen] = useState(false);
  const last = turns.at(-1)?.events.find(({ type }) => type === 'llm');
  const { data } = useQuery({ ...eventQuery(spaceId, last?.id ?? ''), enabled: last !== undefined });
  const system = useMemo(
    () => (data === undefined ? undefined : readEventText(data.event).llm?.system),
    [data],
  );
  if (system === undefined || system === '') return null;
  return (
    <>
      <Button look="quiet" size="small" className="-ml-2 h-6" onClick={() => setOpen(true)}>
        <ScrollText aria-hidden />
        System text
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="System text"
        description="Of the last call of the thread"
        width="wide"
      >
        <Prose text={system} place="thread" />
      </Dialog>
    </>
  );
}
