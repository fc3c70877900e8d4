import { useQuery } from '@tanstack/react-query';
import { Bot, ChevronRight, UserRound } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { eventQuery, type ListedEvent } from '../../event/event-query.ts';
import { readEventText } from '../../event/event-text.ts';
import { formatCounted } from '../../format/number.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { TextBlock } from '../../text/text-block.tsx';
import { classes } from '../../ui/classes.ts';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { findRepeated } from './find-repeated.ts';

/** Characters of a prompt that are shown at first. */
const promptChars = 600;

/** The prompt and the response of a call. What its prompt has in common with the beginning of the one before is folded. */
export function TurnText({
  event,
  before: beforeNow,
}: {
  event: ListedEvent;
  before: ListedEvent | undefined;
}) {
  // Earlier turns that are loaded later must not fold what is being read.
  const [before] = useState(beforeNow);
  const { id: spaceId } = useSpace();
  const { data, error } = useQuery(eventQuery(spaceId, event.id));
  const earlier = useQuery({ ...eventQuery(spaceId, before?.id ?? ''), enabled: before !== undefined });
  const llm = useMemo(() => (data === undefined ? undefined : readEventText(data.event).llm), [data]);
  const promptBefore = useMemo(
    () => (earlier.data === undefined ? undefined : readEventText(earlier.data.event).llm?.prompt),
    [earlier.data],
  );
  if (error !== null) return <FailureNotice error={error} isSmall />;
  // A prompt that shrank a moment after it was shown would move what is read.
  if (data === undefined || (before !== undefined && earlier.isLoading)) return <Loading rows={3} />;
  return (
    <>
      {llm?.prompt && (
        <Speech icon={<UserRound aria-label="Prompt" className="mt-0.5 size-4 shrink-0 text-accent" />}>
          <Prompt text={llm.prompt} before={promptBefore ?? ''} />
        </Speech>
      )}
      {llm?.response && (
        <Speech icon={<Bot aria-label="Response" className="mt-0.5 size-4 shrink-0 text-llm" />}>
          <TextBlock text={llm.response} />
        </Speech>
      )}
      {event.state === 'error' && (
        <p className="text-bad">
          <ShownText text={event.errorMessage ?? 'The call failed.'} />
        </p>
      )}
    </>
  );
}

function Prompt({ text, before }: { text: string; before: string }) {
  const repeated = useMemo(() => findRepeated(text, before), [text, before]);
  const [isWhole, setWhole] = useState(false);
  if (repeated.end === 0) return <TextBlock text={text} firstMax={promptChars} />;
  const rest = text.slice(repeated.end);
  const size =
    repeated.lines > 0 ? formatCounted(repeated.lines, 'line') : formatCounted(repeated.end, 'character');
  return (
    <>
      <button
        type="button"
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
        className="flex min-h-6 items-center gap-1 rounded-sm text-faint text-xs hover:text-ink"
      >
        <ChevronRight aria-hidden className={classes('size-3.5', isWhole && 'rotate-90')} />
        {rest === '' ? `The same prompt as before: ${size}` : `${size} as before`}
      </button>
      {isWhole ? (
        <TextBlock text={text} firstMax={promptChars} />
      ) : (
        rest !== '' && <TextBlock text={rest} firstMax={promptChars} />
      )}
    </>
  );
}

function Speech({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div className="flex gap-3">
      {icon}
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}
