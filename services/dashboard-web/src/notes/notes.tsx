import { MessageSquarePlus, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { formatCounted } from '../format/number.ts';
import { formatTime } from '../format/time.ts';
import { hasRole, useMe, useSpace } from '../space/space.tsx';
import { useSpaceMutation, useSpaceQuery } from '../space/use-space-query.ts';
import { ShownText } from '../text/shown-text.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirmed, Dialog } from '../ui/dialog.tsx';
import { type Note, NoteForm, type NoteTarget } from './note-form.tsx';

interface NotesProps {
  on: NoteTarget;
  also?: readonly NoteTarget[];
  isHiddenEmpty?: boolean;
}

/** The notes on an event, a thread or a trace, with those on what the event belongs to. */
export function Notes({ on, also = [], isHiddenEmpty = false }: NotesProps) {
  const { role } = useSpace();
  const { data = [] } = useSpaceQuery('notes.list', { on: [on, ...also] });
  const [opened, setOpened] = useState<string>();
  const mayAdd = hasRole(role, 'member');
  if (data.length === 0 && (isHiddenEmpty || !mayAdd)) return null;
  const close = () => setOpened(undefined);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      {data.length > 0 && (
        <ul aria-label="Notes" className="flex w-full flex-col gap-1.5">
          {data.map((note) =>
            opened === note.id ? (
              <li key={note.id}>
                <NoteForm on={on} note={note} onClose={close} />
              </li>
            ) : (
              <NoteItem
                key={note.id}
                note={note}
                isOfOther={note.target !== targetOf(on)}
                onEdit={() => setOpened(note.id)}
              />
            ),
          )}
        </ul>
      )}
      {opened === 'new' && <NoteForm on={on} note={undefined} onClose={close} />}
      {mayAdd && opened === undefined && (
        <Button
          icon={MessageSquarePlus}
          look="quiet"
          size="small"
          onClick={() => setOpened('new')}
          text="Add a note"
        />
      )}
    </div>
  );
}

/** Opens the notes in a dialog. */
export function NotesButton({ on, isIcon = false }: { on: NoteTarget; isIcon?: boolean }) {
  const { role } = useSpace();
  const { data = [] } = useSpaceQuery('notes.list', { on: [on] });
  const [isOpen, setOpen] = useState(false);
  if (data.length === 0 && !hasRole(role, 'member')) return null;
  return (
    <>
      {isIcon ? (
        <IconButton icon={MessageSquarePlus} label="Notes" onClick={() => setOpen(true)} />
      ) : (
        <Button
          icon={MessageSquarePlus}
          size="small"
          onClick={() => setOpen(true)}
          text={data.length === 0 ? 'Note' : formatCounted(data.length, 'note')}
        />
      )}
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={`Notes ${nouns[targetOf(on)]}`}>
        <Notes on={on} />
      </Dialog>
    </>
  );
}

function describeLabel({ label, value, score }: Note): string {
  if (value === null) return label ?? '';
  return `${label}: ${value}${typeof value === 'string' && score !== null ? ` (${score})` : ''}`;
}

const nouns: Record<Note['target'], string> = {
  event: 'on the event',
  trace: 'on the trace',
  thread: 'on the thread',
};

function targetOf(on: NoteTarget): Note['target'] {
  if ('eventId' in on) return 'event';
  return 'traceId' in on ? 'trace' : 'thread';
}

function NoteItem({ note, isOfOther, onEdit }: { note: Note; isOfOther: boolean; onEdit: () => void }) {
  const { role } = useSpace();
  const { user } = useMe();
  const { label, text, author, authorId, authorName, createdAt, changedAt, target } = note;
  const mayChange =
    hasRole(role, 'admin') || (hasRole(role, 'member') && author === 'user' && authorId === user.id);
  const who = authorName ?? (author === 'key' ? 'a removed key' : 'a member');
  return (
    <li className="rounded-md border border-line bg-surface px-2.5 py-1.5 text-sm">
      <div className="flex min-w-0 items-start gap-2">
        <div className="flex min-w-0 flex-1 flex-col gap-1 py-1">
          {label !== null && (
            <span className="flex min-w-0">
              <Badge tone="accent">
                <ShownText text={describeLabel(note)} className="max-w-56 truncate" />
              </Badge>
            </span>
          )}
          {text !== null && (
            <p dir="auto" className="whitespace-pre-wrap break-words">
              <ShownText text={text} />
            </p>
          )}
        </div>
        {mayChange && (
          <>
            <IconButton icon={Pencil} label="Edit the note" onClick={onEdit} />
            <RemoveNote id={note.id} />
          </>
        )}
      </div>
      <p className="text-faint text-xs">
        <ShownText text={who} /> · {formatTime(Date.parse(createdAt))}
        {changedAt !== null && ' · edited'}
        {isOfOther && ` · ${nouns[target]}`}
      </p>
    </li>
  );
}

function RemoveNote({ id }: { id: string }) {
  const { mutateAsync } = useSpaceMutation('notes.remove', { reload: ['notes.list'] });
  return (
    <Confirmed
      button={(ask) => <IconButton icon={Trash2} label="Remove the note" onClick={ask} />}
      title="Remove the note?"
      action="Remove"
      onConfirm={() => mutateAsync({ id })}
    >
      The audit log keeps that it was removed, not what it said.
    </Confirmed>
  );
}
