import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { apiQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyTable } from './key-table.tsx';

/** The API keys of the space, for sending and for reading: create, roll and revoke. */
export function ApiKeysPage() {
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('apiKeys.list', { spaceId }));
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="API keys"
      subtitle="A key either sends events to this space or reads it. Changes take effect within a second."
      actions={
        data !== undefined && (
          <Button look="primary" onClick={() => setCreating(true)}>
            <Plus aria-hidden />
            Create key
          </Button>
        )
      }
    >
      <Card isFlush>
        {error !== null ? (
          <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
        ) : data === undefined ? (
          <Loading />
        ) : data.length === 0 ? (
          <Notice icon={KeyRound} title="No API key yet" isSmall>
            Create a key to send events, or a key to read them.
          </Notice>
        ) : (
          <KeyTable keys={data} />
        )}
      </Card>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
