import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Confirmed, FormFailure } from '../../ui/dialog.tsx';
import { submits, TextField } from '../../ui/field.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { DimensionsCard } from './dimensions-card.tsx';
import { ErasureCard } from './erasure-card.tsx';
import { ErasureList } from './erasure-list.tsx';
import { OperatorCard } from './operator-card.tsx';
import { RetentionCard } from './retention-card.tsx';

export function SpaceSettingsPage() {
  const { name } = useSpace();
  const query = useSpaceQuery('spaces.get', {});
  return (
    <Page title="Space settings" subtitle={name}>
      <Loaded query={query}>
        {(data) => (
          <div className="flex flex-col gap-4">
            <div className="grid gap-4 lg:grid-cols-2">
              <NameCard />
              <OperatorCard space={data} />
            </div>
            <RetentionCard retentionDays={data.retentionDays} />
            <DimensionsCard />
            <ErasureCard />
            <ErasureList />
            <DeleteCard />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function DeleteCard() {
  const { id: spaceId, name, role } = useSpace();
  const navigate = useNavigate();
  const { mutateAsync } = useSpaceMutation('spaces.delete', { reload: ['me'] });
  const remove = async () => {
    await mutateAsync({ name });
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
        <Confirmed
          button={(ask) => <Button look="danger" onClick={ask} text="Delete this space …" />}
          title="Delete the space"
          action="Delete the space"
          typed={name}
          onConfirm={remove}
        >
          Its keys are refused at once, and nobody can read it. After one day everything in it is deleted
          permanently. Only a backup can restore it.
        </Confirmed>
      ) : (
        <p className="text-sm">Only an owner of the space can delete it.</p>
      )}
    </Card>
  );
}

function NameCard() {
  const { id: spaceId, name: current } = useSpace();
  const [name, setName] = useState(current);
  const toast = useToast();
  const { mutateAsync, error, isPending } = useSpaceMutation('spaces.rename', {
    reload: ['me', 'spaces.get'],
  });
  const rename = () =>
    mutateAsync({ name: name.trim() }).then(
      () => toast('The space is renamed.'),
      () => {},
    );
  return (
    <Card title="Name">
      <form onSubmit={submits(rename)} className="flex flex-col gap-3">
        <TextField label="Name of the space" required maxLength={100} value={name} onText={setName} />
        <FormFailure error={error} />
        <div className="flex items-center gap-2">
          <Button
            look="primary"
            type="submit"
            disabled={isPending || name.trim() === '' || name.trim() === current}
            text="Rename"
          />
          <CopyButton label="Copy id of the space" text={spaceId} shown="Copy id" />
        </div>
      </form>
    </Card>
  );
}
