import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { apiQuery } from '../../api/query.ts';
import { hasRole } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { InvitationList } from './invitation-list.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberTable } from './member-table.tsx';

/** The members of the space with their roles, and open invitations. */
export function MembersPage() {
  const { id: spaceId, role, name } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('members.list', { spaceId }));
  const [isInviting, setInviting] = useState(false);
  const canManage = hasRole(role, 'admin');
  return (
    <Page
      title="Members"
      subtitle={name}
      actions={
        canManage && (
          <Button look="primary" onClick={() => setInviting(true)}>
            <UserPlus aria-hidden />
            Invite
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <Card isFlush>
          {error !== null ? (
            <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
          ) : data === undefined ? (
            <Loading />
          ) : (
            <MemberTable members={data} />
          )}
        </Card>
        {canManage && <InvitationList />}
      </div>
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} />
    </Page>
  );
}
