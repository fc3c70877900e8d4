import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { hasRole } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Card } from '../../ui/page.tsx';

/** Deletes the space, after its name was typed. */
export function DeleteCard() {
  const { id: spaceId, name, role } = useSpace();
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const { mutateAsync } = useApiMutation('spaces.delete', { reload: ['me'] });
  const remove = async () => {
    await mutateAsync({ spaceId, name });
    await navigate({ to: '/s/$spaceId/deleted', params: { spaceId } });
  };
  return (
    <Card title="Delete the space">
      <p className="mb-3 max-w-3xl text-muted text-sm">
        Deletes everything in the space: events with their ids, statistics, keys, members, prices and alerts.
        Its keys are refused at once. For one day, an owner can restore it; then it is deleted permanently.
        Only its monthly event counts are kept, for billing.
      </p>
      {hasRole(role, 'owner') ? (
        <Button look="danger" onClick={() => setAsking(true)}>
          Delete this space …
        </Button>
      ) : (
        <p className="text-sm">Only an owner of the space can delete it.</p>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Delete the space"
        action="Delete the space"
        typed={name}
        onConfirm={remove}
      >
        Its keys are refused at once, and nobody can read it. After one day everything in it is deleted
        permanently. Only a backup can restore it.
      </ConfirmDialog>
    </Card>
  );
}
