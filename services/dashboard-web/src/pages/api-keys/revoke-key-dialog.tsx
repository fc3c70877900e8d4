import { useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import type { ApiKey } from './api-key.ts';

export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey | undefined; onClose: () => void }) {
  const { id: spaceId } = useSpace();
  const { mutateAsync } = useApiMutation('apiKeys.revoke', { reload: ['apiKeys.list'] });
  return (
    <ConfirmDialog
      isOpen={apiKey !== undefined}
      onClose={onClose}
      title="Revoke API key"
      action="Revoke"
      typed={apiKey?.name ?? ''}
      onConfirm={() => mutateAsync({ spaceId, keyId: apiKey?.id ?? '' })}
    >
      Clients that use this key get 401 within a second. This cannot be undone. Events that were sent are
      kept.
    </ConfirmDialog>
  );
}
