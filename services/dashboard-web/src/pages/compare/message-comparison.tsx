import { ChevronRight } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useWorker } from '../../api/use-worker.ts';
import type { MessageRow, WordRun } from '../../compare/compare-messages.ts';
import type { ShownMessage } from '../../compare/conversation.ts';
import { MessageParts, roleLooks } from '../../event/message-turns.tsx';
import { Turn } from '../../event/turn.tsx';
import { formatCounted } from '../../format/number.ts';
import { cutOutsideSecret } from '../../text/marks.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { NoDiff, startDiff } from './line-comparison.tsx';

/** Changes drawn at first. */
const shownRows = 60;

/** Unchanged messages are folded, words marked within changed ones. */
export function MessageComparison({ before, after }: { before: ShownMessage[]; after: ShownMessage[] }) {
  const message = useMemo(() => ({ of: 'messages' as const, before, after }), [before, after]);
  const rows = useWorker<typeof message, MessageRow[]>(startDiff, message);
  const [isAll, setAll] = useState(false);
  if (rows.state !== 'done') return <NoDiff isWorking={rows.state === 'working'} />;
  const shown = isAll ? rows.result : rows.result.slice(0, shownRows);
  const changes = rows.result.filter(({ kind }) => kind !== 'same').length;
  return (
    <>
      <p role="status" className="mt-4 mb-2.5 text-muted text-xs">
        {changes === 0
          ? 'The conversations are identical.'
          : `${formatCounted(changes, 'message')} ${changes === 1 ? 'differs' : 'differ'}.`}
      </p>
      <ol className="flex flex-col gap-2.5">
        {shown.map((row) => (
          <li key={row.kind === 'removed' ? `removed ${row.before}` : row.after}>
            <Row row={row} before={before} after={after} />
          </li>
        ))}
      </ol>
      {shown.length < rows.result.length && (
        <Button
          className="mt-2.5"
          onClick={() => setAll(true)}
          text={`Show ${formatCounted(rows.result.length - shown.length, 'more row')}`}
        />
      )}
    </>
  );
}

function Row({ row, before, after }: { row: MessageRow; before: ShownMessage[]; after: ShownMessage[] }) {
  if (row.kind === 'same')
    return <Unchanged messages={after.slice(row.after, row.after + row.count)} first={row.after} />;
  const place = row.kind === 'removed' ? row.before : row.after;
  const message = (row.kind === 'removed' ? before : after)[place];
  if (message === undefined) return null;
  return (
    <OneMessage
      message={message}
      name={`${row.kind}, ${place + 1}`}
      badge={<Badge tone={tones[row.kind]}>{row.kind}</Badge>}
    >
      {row.kind === 'changed' ? (
        <Words words={row.words} />
      ) : (
        <MessageParts parts={message.parts} place="event" />
      )}
    </OneMessage>
  );
}

const tones = { changed: 'warn', removed: 'bad', added: 'good' } as const;

interface OneMessageProps {
  message: ShownMessage;
  /** Tells screen readers this message from others of its role. */
  name: string;
  badge?: ReactNode;
  children: ReactNode;
}

function OneMessage({ message, name, badge, children }: OneMessageProps) {
  const { title, icon, tone } = roleLooks[message.role];
  return (
    <Turn
      icon={icon}
      title={
        <>
          {title}
          <span className="sr-only"> ({name})</span>
        </>
      }
      tone={tone}
      aside={badge}
    >
      {children}
    </Turn>
  );
}

function Unchanged({ messages, first }: { messages: readonly ShownMessage[]; first: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="flex flex-col gap-2.5">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-7 w-full items-center gap-1.5 rounded-md bg-sunken px-3 text-muted text-sm hover:text-ink"
      >
        <ChevronRight aria-hidden className={classes('size-3.5', isOpen && 'rotate-90')} />
        {formatCounted(messages.length, 'unchanged message')}
      </button>
      {isOpen &&
        messages.map((message, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages never move.
          <OneMessage key={place} message={message} name={`unchanged, ${first + place + 1}`}>
            <MessageParts parts={message.parts} place="event" />
          </OneMessage>
        ))}
    </div>
  );
}

function Words({ words }: { words: readonly WordRun[] }) {
  return (
    <div dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
      {words.map((run, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the words of a comparison never move.
        <Run key={place} run={run} />
      ))}
    </div>
  );
}

const elements = { same: 'span', removed: 'del', added: 'ins' } as const;
const backgrounds = {
  same: '',
  removed: 'bg-bad-soft text-bad',
  added: 'bg-good-soft text-good no-underline',
};

/** Of longer runs of words only the beginning and the end are drawn at first, in characters. */
const endsChars = { same: 200, removed: 2_000, added: 2_000 };

function Run({ run: { kind, text } }: { run: WordRun }) {
  const [isWhole, setWhole] = useState(false);
  const Kind = elements[kind];
  const ends = endsChars[kind];
  const head = cutOutsideSecret(text, ends);
  const tail = cutOutsideSecret(text, text.length - ends);
  return (
    <Kind className={classes('rounded-xs', backgrounds[kind])}>
      {isWhole || head >= tail ? (
        <ShownText text={text} />
      ) : (
        <>
          <ShownText text={text.slice(0, head)} />
          <button
            type="button"
            className="mx-1 rounded-sm bg-sunken px-1.5 font-sans text-muted text-xs hover:text-ink"
            onClick={() => setWhole(true)}
          >
            … {formatCounted(tail - head, `${kind === 'same' ? 'unchanged' : kind} character`)} …
          </button>
          <ShownText text={text.slice(tail)} />
        </>
      )}
    </Kind>
  );
}
