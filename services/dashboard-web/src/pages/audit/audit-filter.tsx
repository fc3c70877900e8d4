import { X } from 'lucide-react';
import { useFilter } from '../../filter/use-filter.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';

interface Actor {
  actor: string;
  actorEmail: string | null;
}

/** The action and the user that the audit log is filtered by, from the address. */
export function AuditFilter({ rows }: { rows: readonly Actor[] }) {
  const { search, set } = useFilter();
  const { action, actor } = search;
  if (action === undefined && actor === undefined) return null;
  const chosen = rows.find((row) => row.actor === actor);
  return (
    <ul aria-label="Filters" className="mb-3 flex flex-wrap gap-2">
      {action !== undefined && (
        <FilterChip text={`Action: ${action}`} onRemove={() => set({ action: undefined })} />
      )}
      {actor !== undefined && (
        <FilterChip
          text={`Who: ${nameActor(chosen ?? { actor, actorEmail: null })}`}
          onRemove={() => set({ actor: undefined })}
        />
      )}
    </ul>
  );
}

/** The e-mail address. The operator and removed accounts have none. */
export function nameActor({ actor, actorEmail }: Actor): string {
  return actorEmail ?? (actor === 'operator' ? 'operator' : 'removed user');
}

function FilterChip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <li>
      <Button size="small" aria-label={`Remove filter ${text}`} onClick={onRemove}>
        <ShownText text={text} />
        <X aria-hidden />
      </Button>
    </li>
  );
}
