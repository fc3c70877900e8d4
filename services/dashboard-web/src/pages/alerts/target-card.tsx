import { useQuery } from '@tanstack/react-query';
import { Plus, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { TargetDialog } from './target-dialog.tsx';

/** Where alerts are sent. */
export function TargetCard() {
  const { id: spaceId } = useSpace();
  const [isAdding, setAdding] = useState(false);
  const { data, error } = useQuery(apiQuery('alerts.targets', { spaceId }));
  return (
    <Card
      title="Targets"
      isFlush
      actions={
        <Button size="small" onClick={() => setAdding(true)}>
          <Plus aria-hidden />
          Add a target
        </Button>
      }
    >
      {error !== null ? (
        <FailureNotice error={error} isSmall />
      ) : data === undefined ? (
        <Loading rows={2} />
      ) : data.targets.length === 0 ? (
        <p className="px-4 py-3 text-muted text-sm">
          Add a webhook, a Slack channel or an e-mail address. Until then alerts are only shown here.
        </p>
      ) : (
        <Table
          caption="Alert targets"
          rows={data.targets}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ name }) => <span className="font-medium [overflow-wrap:anywhere]">{name}</span>,
            },
            { title: 'Kind', cell: ({ kind }) => <Badge>{kind}</Badge> },
            {
              title: 'Address',
              isExtra: true,
              className: 'max-w-72 truncate text-muted',
              cell: ({ shownAddress }) => shownAddress,
            },
            {
              title: 'Actions',
              isPinned: true,
              isNumber: true,
              cell: (target) => <TargetActions {...target} />,
            },
          ]}
        />
      )}
      {data !== undefined && (
        <TargetDialog isOpen={isAdding} onClose={() => setAdding(false)} hasMail={data.hasMail} />
      )}
    </Card>
  );
}

function TargetActions({ id, name }: { id: string; name: string }) {
  const { id: spaceId } = useSpace();
  const toast = useToast();
  const test = useApiMutation('alerts.testTarget', { reload: ['alerts.history'] });
  const remove = useApiMutation('alerts.removeTarget', { reload: ['alerts.targets'] });
  const attempt = (change: Promise<unknown>, done: string) => {
    change.then(
      () => toast(done),
      (failure: unknown) => toast(describeFailure(failure).message),
    );
  };
  return (
    <span className="inline-flex gap-1">
      <IconButton
        label={`Send a test to ${name}`}
        onClick={() =>
          attempt(test.mutateAsync({ spaceId, id }), 'Sending the test. Its outcome appears in the history.')
        }
      >
        <Send aria-hidden />
      </IconButton>
      <IconButton
        label={`Remove ${name}`}
        onClick={() => attempt(remove.mutateAsync({ spaceId, id }), `${name} is removed.`)}
      >
        <Trash2 aria-hidden />
      </IconButton>
    </span>
  );
}
