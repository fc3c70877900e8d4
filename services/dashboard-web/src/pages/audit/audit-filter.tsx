import { X } from 'lucide-react';
import { useFilter } from '../../filter/use-filter.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';

interface Actor {
  actor: string;
  actorEmail: string | null;
}

/** The action and the person that the address narrows the audit log to. */
export function AuditFilter({ rows }: { rows: readonly Actor[] }) {
  const { search, set } = useFilter();
  const { action, actor } = search;
  if (action === undefined && actor === undefined) return null;
  const who = rows.find((row) => row.actor === actor);
  return (
    <ul aria-label="Filter" className="mb-3 flex flex-wrap gap-2">
      {action !== undefined && (
        <Chosen text={`Action is ${action}`} onRemove={() => set({ action: undefined })} />
      )}
      {actor !== undefined && (
        <Chosen
          text={`Who is ${nameActor(who ?? { actor, actorEmail: null })}`}
          onRemove={() => set({ actor: undefined })}
        />
      )}
    </ul>
  );
}

/** The e-mail address, where there is one: an account may have been removed, and the operator has none. */
export function nameActor({ actor, actorEmail }: Actor): string {
  return actorEmail ?? (actor === 'operator' ? 'operator' : 'a former user');
}

function Chosen({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <li>
      <Button size="small" aria-label={`Remove: ${text}`} onClick={onRemove}>
        <ShownText text={text} />
        <X aria-hidden />
      </Button>
    </li>
  );
}
