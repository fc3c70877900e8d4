import { type ReactNode, useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import type { Input } from '../../api/query.ts';
import { formatCounted } from '../../format/number.ts';
import { formatToMinute, fromLocalTime, nameZone } from '../../format/time.ts';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirmed } from '../../ui/dialog.tsx';
import { SelectField, submits, TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { useToast } from '../../ui/toasts.tsx';

type Subject = Pick<Input<'erasures.preview'>, 'kind' | 'value'>;
type Kind = Subject['kind'];

const kinds: { value: Kind; label: string }[] = [
  { value: 'user', label: 'Events of a user' },
  { value: 'thread', label: 'Events of a thread' },
  { value: 'before', label: 'Events before a time' },
];

export function ErasureCard() {
  const { role } = useSpace();
  const [subject, setSubject] = useState<Subject>();
  const [requested, setRequested] = useState(0);
  const onRequested = () => {
    setSubject(undefined);
    setRequested(requested + 1);
  };
  return (
    <Card title="Erase events">
      <p className="mb-3 max-w-3xl text-muted text-sm">
        Deletes events permanently, including from the database files, and keeps a receipt without the id of
        the user or thread. Counts in charts, usage and the ids of the events are kept. Erases the events that
        were accepted before it begins.
      </p>
      {hasRole(role, 'owner') ? (
        <>
          {/* Emptied after each request, and not before: the preview is of what the form says. */}
          <SubjectForm key={requested} onSubject={setSubject} />
          {subject !== undefined && (
            <ErasurePreview key={JSON.stringify(subject)} subject={subject} onRequested={onRequested} />
          )}
        </>
      ) : (
        <p className="text-sm">Only an owner of the space can erase events.</p>
      )}
    </Card>
  );
}

function SubjectForm({ onSubject }: { onSubject: (subject: Subject | undefined) => void }) {
  const [kind, setKind] = useState<Kind>('user');
  const [text, setText] = useState('');
  const count = () => {
    const value = kind === 'before' ? new Date(fromLocalTime(Date.parse(`${text}Z`))).toISOString() : text;
    onSubject({ kind, value });
  };
  const change = (next: { kind?: Kind; text: string }) => {
    if (next.kind !== undefined) setKind(next.kind);
    setText(next.text);
    onSubject(undefined);
  };
  return (
    <form onSubmit={submits(count)} className="flex flex-wrap items-end gap-2">
      <SelectField
        label="Which events"
        className="w-48"
        options={kinds}
        value={kind}
        onChange={(next) => change({ kind: next, text: '' })}
      />
      <TextField
        label={kind === 'before' ? `Started before (${nameZone()})` : `Id of the ${kind}`}
        className="min-w-52 flex-1"
        type={kind === 'before' ? 'datetime-local' : 'text'}
        required
        value={text}
        onText={(text) => change({ text })}
      />
      <Button type="submit" disabled={text === ''} text="Count" />
    </form>
  );
}

interface PreviewProps {
  subject: Subject;
  onRequested: () => void;
}

function ErasurePreview({ subject, onRequested }: PreviewProps) {
  const { data, error } = useSpaceQuery('erasures.preview', { ...subject });
  if (error !== null) return <p className="mt-3 text-bad text-sm">{describeFailure(error).message}</p>;
  if (data === undefined) return <p className="mt-3 text-muted text-sm">Counting …</p>;
  const { events, quarantineEvents, from, to, isComplete } = data;
  const atLeast = isComplete ? '' : 'At least ';
  const show = (time: string) => formatToMinute(Date.parse(time));
  return (
    <div className="mt-3 flex flex-col gap-3">
      <p role="status" className="text-sm">
        <strong>{atLeast + formatCounted(events, 'stored event')}</strong>
        {from !== null && to !== null && `, from ${show(from)} to ${show(to)}`}
        {quarantineEvents > 0 && `, and ${formatCounted(quarantineEvents, 'event')} in quarantine`}.
        {events + quarantineEvents === 0 && ' Events that are still in the queue are erased too.'}
      </p>
      <EraseForm subject={subject} onRequested={onRequested}>
        {atLeast}
        {formatCounted(events + quarantineEvents, 'event')}{' '}
        {subject.kind === 'before' ? `from before ${show(subject.value)}` : `of the ${subject.kind} `}
        {subject.kind !== 'before' && (
          <strong className="break-all">
            <ShownText text={subject.value} />
          </strong>
        )}{' '}
        will be deleted permanently, including from the database files. Only a backup can restore them.
      </EraseForm>
    </div>
  );
}

/** Requests the erasure. `children` say what it deletes. */
function EraseForm({ subject, onRequested, children }: PreviewProps & { children: ReactNode }) {
  const toast = useToast();
  const [reason, setReason] = useState('');
  const { mutateAsync } = useSpaceMutation('erasures.request', { reload: ['erasures.list'] });
  const erase = async () => {
    await mutateAsync({ ...subject, reason });
    toast('Erasure requested.');
    onRequested();
  };
  return (
    <div className="flex flex-wrap items-end gap-2">
      <TextField
        label="Reason (optional, without personal data)"
        className="min-w-52 flex-1"
        maxLength={500}
        value={reason}
        onText={setReason}
      />
      <Confirmed
        button={(ask) => <Button look="danger" onClick={ask} text="Erase …" />}
        title="Erase events"
        action="Erase permanently"
        typed="erase"
        onConfirm={erase}
      >
        {children}
      </Confirmed>
    </div>
  );
}
