import { useParams } from '@tanstack/react-router';
import { MessagesSquare, ScrollText } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { ActivityFacts } from '../../activity/activity-columns.tsx';
import { useEventText } from '../../event/event-query.ts';
import { MarkdownToggle, Prose } from '../../event/prose.tsx';
import { NotesButton } from '../../notes/notes.tsx';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { FoundTextProvider, useFoundMarks } from '../../text/found-marks.tsx';
import { describeText } from '../../text/shown-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { Loaded, Notice } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { FindField } from './find-field.tsx';
import { TurnList } from './turn-list.tsx';
import { keyOf, type ThreadTurn, useThread } from './use-thread.ts';

/** Opens at the turn of the event that the address names, or at the end. */
export function ThreadPage() {
  const { threadId = '' } = useParams({ strict: false });
  return <Thread key={threadId} threadId={threadId} />;
}

function Thread({ threadId }: { threadId: string }) {
  const thread = useThread(threadId);
  const { turns } = thread;
  const [currentKey, setCurrentKey] = useState<string>();
  const [foundText, setFoundText] = useState('');
  const list = useRef<HTMLDivElement>(null);
  useFoundMarks(list, foundText);
  const show = async (eventId: string) => {
    const place = await thread.load(eventId);
    if (place !== undefined) setCurrentKey(eventId);
    return place !== undefined;
  };
  useOpening(turns.length > 0, show);
  // `currentKey` may be any event of a turn.
  const current = turns.findIndex(
    (turn) => keyOf(turn) === currentKey || turn.events.some(({ id }) => id === currentKey),
  );
  return (
    <Page
      title={describeText(threadId)}
      subtitle={<ThreadHead threadId={threadId} turns={turns} />}
      isWide
      actions={
        <>
          <MarkdownToggle place="thread" />
          {turns.length > 0 && <FindField threadId={threadId} onFound={show} onText={setFoundText} />}
          <NotesButton on={{ threadId }} />
          <CopyButton label="Copy the thread id" text={threadId} />
        </>
      }
    >
      {turns.length === 0 ? (
        <Loaded query={thread} rows={8}>
          {() => <Notice icon={MessagesSquare} title="This thread has no events" />}
        </Loaded>
      ) : (
        <FoundTextProvider value={foundText}>
          <div ref={list} className="flex min-h-0 flex-1 flex-col">
            <TurnList
              thread={thread}
              current={current === -1 ? undefined : current}
              onCurrent={(place) => setCurrentKey(turns[place] && keyOf(turns[place]))}
            />
          </div>
        </FoundTextProvider>
      )}
    </Page>
  );
}

/** Shows the turn of the event that the address names, once turns are loaded. */
function useOpening(isLoaded: boolean, show: (eventId: string) => unknown): void {
  const { at } = useSearchTexts();
  const isOpened = useRef(false);
  const openAt = useEffectEvent(() => {
    if (at !== undefined && !isOpened.current) void show(at);
    isOpened.current = true;
  });
  useEffect(() => {
    if (isLoaded) openAt();
  }, [isLoaded]);
}

function ThreadHead({ threadId, turns }: { threadId: string; turns: readonly ThreadTurn[] }) {
  const { data } = useSpaceQuery('threads.get', { threadId }, { retry: false });
  return (
    <span className="flex min-h-6 flex-wrap items-center gap-x-3">
      {data !== undefined && <ActivityFacts activity={data} showsUser />}
      <SystemText turns={turns} />
    </span>
  );
}

/** The system text of the last call, in a dialog: it may be long, and is the same in most turns. */
function SystemText({ turns }: { turns: readonly ThreadTurn[] }) {
  const system = useEventText(turns.at(-1)?.events.find(({ type }) => type === 'llm')?.id).data?.llm?.system;
  if (system === undefined || system === '') return null;
  return (
    <DialogButton
      icon={ScrollText}
      look="quiet"
      size="small"
      className="-ml-2 h-6"
      text="System text"
      title="System text"
      description="Of the last call of the thread"
      width="wide"
    >
      {() => <Prose text={system} place="thread" />}
    </DialogButton>
  );
}
