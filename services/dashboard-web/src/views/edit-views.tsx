import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { hasRole, useSpace } from '../space/space.tsx';
import { useSpaceMutation } from '../space/use-space-query.ts';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { IconButton } from '../ui/button.tsx';
import { Confirmed, Form } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { nameCharsMax } from './save-view.tsx';
import type { View } from './view.ts';

/** The views of a list, to rename and to remove. */
export function EditViews({ views }: { views: readonly View[] }) {
  const { role } = useSpace();
  const [renamed, setRenamed] = useState<string>();
  const { mutateAsync: remove } = useSpaceMutation('views.remove', { reload: ['views.list'] });
  if (views.length === 0) return <p className="text-muted text-sm">There are no views of this list.</p>;
  return (
    <ul aria-label="Views" className="flex flex-col gap-1">
      {views.map((view) => (
        <li key={view.id} className="flex min-h-8 items-center gap-2 text-sm">
          {renamed === view.id ? (
            <RenameView view={view} onClose={() => setRenamed(undefined)} />
          ) : (
            <>
              <ShownText text={view.name} className="min-w-0 flex-1 truncate" />
              {view.isOfSpace && <span className="shrink-0 text-faint text-xs">of the space</span>}
              {(!view.isOfSpace || hasRole(role, 'member')) && (
                <>
                  <IconButton
                    icon={Pencil}
                    label={`Rename ${describeText(view.name)}`}
                    onClick={() => setRenamed(view.id)}
                  />
                  <Confirmed
                    button={(ask) => (
                      <IconButton icon={Trash2} label={`Remove ${describeText(view.name)}`} onClick={ask} />
                    )}
                    title="Remove the view?"
                    action="Remove"
                    onConfirm={() => remove({ id: view.id })}
                  >
                    {view.isOfSpace
                      ? 'Nobody in the space has the view any more.'
                      : 'The events that it shows stay.'}
                  </Confirmed>
                </>
              )}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function RenameView({ view: { id, name: before }, onClose }: { view: View; onClose: () => void }) {
  const [name, setName] = useState(before);
  const { mutateAsync: rename } = useSpaceMutation('views.rename', { reload: ['views.list'] });
  return (
    <Form
      action="Rename"
      className="w-full py-2"
      onSubmit={() => rename({ id, name }).then(onClose)}
      onCancel={onClose}
      isDisabled={name.trim() === ''}
    >
      {/* It replaces the button that was pressed, so the focus goes on in it. */}
      <TextField
        label="Name"
        maxLength={nameCharsMax}
        value={name}
        onText={setName}
        ref={(field) => field?.focus()}
      />
    </Form>
  );
}
