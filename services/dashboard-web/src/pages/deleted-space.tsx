import { useNavigate } from '@tanstack/react-router';
import { formatToMinute } from '../format/time.ts';
import { hasRole, useSpace } from '../space/space.tsx';
import { useSpaceMutation } from '../space/use-space-query.ts';
import { Form } from '../ui/dialog.tsx';
import { Card, Page } from '../ui/page.tsx';
import { useToast } from '../ui/toasts.tsx';

/** In place of all pages of a space that is marked as deleted. */
export function DeletedSpacePage() {
  const { id: spaceId, name, role, deleteAt } = useSpace();
  const navigate = useNavigate();
  const toast = useToast();
  const { mutateAsync } = useSpaceMutation('spaces.restore', { reload: ['me'] });
  const restore = async () => {
    await mutateAsync({});
    toast('The space is restored.');
    await navigate({ to: '/s/$spaceId', params: { spaceId } });
  };
  return (
    <Page title="This space is deleted" subtitle={name}>
      <Card title="Deletion">
        <div className="flex max-w-3xl flex-col gap-3 text-sm">
          <p>
            Until <strong>{deleteAt === null ? 'now' : formatToMinute(Date.parse(deleteAt))}</strong>, nothing
            is deleted: its keys are refused, nobody can read it, and an owner can restore it. Then everything
            in it is deleted permanently, and it is no longer in your list of spaces.
          </p>
          {hasRole(role, 'owner') ? (
            <Form action="Restore the space" className="[&_button]:self-start" onSubmit={restore} />
          ) : (
            <p>Ask an owner of the space to restore it, if it is still needed.</p>
          )}
        </div>
      </Card>
    </Page>
  );
}
