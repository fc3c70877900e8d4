import { KeyRound } from 'lucide-react';
import { useApiMutation } from '../../api/query.ts';
import { hasRole } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';

/** Creates an API key and fills it into the snippets. Users without the role are told whom to ask. */
export function FirstKey({ isMade, onKey }: { isMade: boolean; onKey: (apiKey: string) => void }) {
  const { id: spaceId, role } = useSpace();
  const { mutateAsync, isPending, error } = useApiMutation('apiKeys.create', { reload: ['apiKeys.list'] });
  if (isMade)
    return (
      <p className="text-muted text-sm">
        The key is filled in below. It is not shown again after you leave this page.
      </p>
    );
  if (!hasRole(role, 'admin'))
    return <p className="text-muted text-sm">Ask an admin of the space for an API key.</p>;
  const onCreate = async () => {
    const created = await mutateAsync({ spaceId, name: 'first events' }).catch(() => undefined);
    if (created !== undefined) onKey(created.apiKey);
  };
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button look="primary" disabled={isPending} onClick={() => void onCreate()}>
        <KeyRound aria-hidden />
        Create an API key
      </Button>
      <p className="text-muted text-sm">
        It is filled in below. Or use the key printed by <code className="font-mono text-xs">npm start</code>.
      </p>
      <FormFailure error={error} />
    </div>
  );
}
