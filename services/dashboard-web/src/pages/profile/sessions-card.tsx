import { useQuery } from '@tanstack/react-query';
import { describeFailure } from '../../api/failure.ts';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { SessionTable } from './session-table.tsx';

/** The sessions of the user. */
export function SessionsCard() {
  const toast = useToast();
  const { data, error, refetch } = useQuery(apiQuery('sessions.list', undefined));
  const revoke = useApiMutation('sessions.revoke', { reload: ['sessions.list'] });
  const revokeOthers = useApiMutation('sessions.revokeOthers', { reload: ['sessions.list'] });
  const attempt = async (change: () => Promise<unknown>) => {
    try {
      await change();
    } catch (failure) {
      toast(describeFailure(failure).message);
    }
  };
  return (
    <Card
      title="Sessions"
      isFlush
      className="lg:col-span-2"
      actions={
        (data?.length ?? 0) > 1 && (
          <Button look="danger" size="small" onClick={() => void attempt(() => revokeOthers.mutateAsync())}>
            End all others
          </Button>
        )
      }
    >
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
      ) : data === undefined ? (
        <Loading rows={3} />
      ) : (
        <SessionTable sessions={data} onEnd={(id) => void attempt(() => revoke.mutateAsync({ id }))} />
      )}
    </Card>
  );
}
