import { useQuery } from '@tanstack/react-query';
import { describeFailure } from '../../api/failure.ts';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { formatMinute } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { FailureNotice } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toasts.tsx';

/** Open invitations; renders nothing when there are none. */
export function InvitationList() {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const toast = useToast();
  const { data, error } = useQuery(apiQuery('invitations.list', { spaceId }));
  const { mutateAsync } = useApiMutation('invitations.revoke', { reload: ['invitations.list'] });
  if (error !== null) return <FailureNotice error={error} isSmall />;
  if (data === undefined || data.length === 0) return null;
  const revoke = async (id: string) => {
    try {
      await mutateAsync({ spaceId, id });
    } catch (failure) {
      toast(describeFailure(failure).message);
    }
  };
  return (
    <Card title="Open invitations" isFlush>
      <Table
        caption="Open invitations"
        rows={data}
        keyOf={({ id }) => id}
        columns={[
          { title: 'E-mail address', cell: ({ email }) => email },
          { title: 'Role', cell: ({ role }) => <Badge>{role}</Badge> },
          {
            title: 'Valid until',
            cell: ({ expiresAt }) => (
              <span className="whitespace-nowrap text-muted">
                {formatMinute(Date.parse(expiresAt), zone)}
              </span>
            ),
          },
          {
            title: 'Actions',
            isPinned: true,
            isNumber: true,
            cell: ({ id, email }) => (
              <Button
                look="danger"
                size="small"
                aria-label={`Revoke the invitation of ${email}`}
                onClick={() => void revoke(id)}
              >
                Revoke
              </Button>
            ),
          },
        ]}
      />
    </Card>
  );
}
