import { useEffect, useRef, useState } from 'react';
import type { Input, Output } from '../api/query.ts';
import { useSpaceMutation } from '../space/use-space-query.ts';
import { Form } from '../ui/dialog.tsx';
import { TextAreaField, TextField } from '../ui/field.tsx';

export type Note = Output<'notes.list'>[number];
export type NoteTarget = Input<'notes.list'>['on'][number];

/** The API's limits. */
const labelCharsMax = 64;
const valueCharsMax = 256;
const textCharsMax = 4_000;

interface NoteFormProps {
  on: NoteTarget;
  note: Note | undefined;
  onClose: () => void;
}

/** Adds a note, or edits one. */
export function NoteForm({ on, note, onClose }: NoteFormProps) {
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => fields.current?.querySelector('input')?.focus(), []);
  const [label, setLabel] = useState(note?.label ?? '');
  const [value, setValue] = useState(String(note?.value ?? ''));
  const [text, setText] = useState(note?.text ?? '');
  const { mutateAsync: add } = useSpaceMutation('notes.add', { reload: ['notes.list'] });
  const { mutateAsync: change } = useSpaceMutation('notes.change', { reload: ['notes.list'] });
  const save = async () => {
    const content = {
      ...(label.trim() !== '' && { label: label.trim() }),
      ...(value.trim() !== '' && { value: parseValue(value) }),
      ...(text.trim() !== '' && { text: text.trim() }),
    };
    if (note === undefined) await add({ notes: [{ ...on, ...content }] });
    else await change({ id: note.id, ...content });
    onClose();
  };
  return (
    <Form
      action="Save"
      className="w-full"
      onSubmit={save}
      onCancel={onClose}
      isDisabled={label.trim() === '' && text.trim() === ''}
    >
      <div ref={fields} className="flex flex-wrap gap-3">
        <TextField
          label="Label"
          hint="Such as thumbs-down or quality."
          maxLength={labelCharsMax}
          value={label}
          onText={setLabel}
          className="min-w-28 flex-1"
        />
        <TextField
          label="Value"
          hint="A number, true, false or a text."
          maxLength={valueCharsMax}
          value={value}
          onText={setValue}
          disabled={label.trim() === ''}
          className="min-w-28 flex-1"
        />
      </div>
      <TextAreaField label="Note" value={text} onText={setText} charsMax={textCharsMax} />
    </Form>
  );
}

/** The value of a label as it was typed: a number, true or false, or a text. */
function parseValue(typed: string): string | number | boolean {
  const text = typed.trim();
  if (text === 'true' || text === 'false') return text === 'true';
  // A number that JavaScript prints otherwise, such as an id with leading zeros, stays a text.
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}
