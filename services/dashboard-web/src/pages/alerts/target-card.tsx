import { Plus, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Output } from '../../api/query.ts';
import { useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { actionsColumn, Table } from '../../table/table.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ShownOnce } from '../../ui/copy-button.tsx';
import { DialogButton, Form } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { QueryCard } from '../../ui/page.tsx';
import { useAttempt } from '../../ui/toasts.tsx';

export function TargetCard() {
  const query = useSpaceQuery('alerts.targets', {});
  return (
    <QueryCard
      title="Targets"
      isFlush
      actions={
        query.data !== undefined && (
          <DialogButton icon={Plus} size="small" text="Add a target" title="Add a target">
            {(close) => <TargetForm onClose={close} hasMail={query.data.hasMail} />}
          </DialogButton>
        )
      }
      query={query}
    >
      {(data) => (
        <Table
          empty="Add a webhook, a Slack channel or an e-mail address. Until then alerts are only shown here."
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
            actionsColumn((target: Output<'alerts.targets'>['targets'][number]) => (
              <TargetActions {...target} />
            )),
          ]}
        />
      )}
    </QueryCard>
  );
}

function TargetActions({ id, name }: { id: string; name: string }) {
  const attempt = useAttempt();
  const test = useSpaceMutation('alerts.testTarget', { reload: ['alerts.history'] });
  const remove = useSpaceMutation('alerts.removeTarget', { reload: ['alerts.targets', 'alerts.list'] });
  return (
    <span className="inline-flex gap-1">
      <IconButton
        icon={Send}
        label={`Send a test to ${name}`}
        onClick={() =>
          attempt(test.mutateAsync({ id }), 'Sending the test. Its outcome appears in the history.')
        }
      />
      <IconButton
        icon={Trash2}
        label={`Remove ${name}`}
        onClick={() => attempt(remove.mutateAsync({ id }), `${name} is removed.`)}
      />
    </span>
  );
}

type Kind = Output<'alerts.targets'>['targets'][number]['kind'];

const kinds: { value: Kind; label: string; address: string; example: string }[] = [
  { value: 'webhook', label: 'Signed webhook', address: 'URL', example: 'https://example.com/weir' },
  { value: 'slack', label: 'Slack', address: 'Webhook URL', example: 'https://hooks.slack.com/services/…' },
  { value: 'email', label: 'E-mail', address: 'E-mail address', example: 'on-call@example.com' },
];

/** The secret of a webhook is shown once. */
function TargetForm({ onClose, hasMail }: { onClose: () => void; hasMail: boolean }) {
  const [kind, setKind] = useState<Kind>('webhook');
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const { mutateAsync, data } = useSpaceMutation('alerts.createTarget', { reload: ['alerts.targets'] });
  const shown = kinds.find(({ value }) => value === kind);
  const isUnavailable = kind === 'email' && !hasMail;
  const add = async () => {
    const { secret } = await mutateAsync({ kind, name, address: address.trim() });
    if (secret === null) onClose();
  };
  if (data?.secret != null)
    return (
      <ShownOnce
        note="Messages are signed with this secret, so that the receiver can verify them. It is not shown again."
        text={data.secret}
        copyLabel="Copy the secret"
        onClose={onClose}
      />
    );
  return (
    <Form action="Add" onSubmit={add} onCancel={onClose} isDisabled={isUnavailable}>
      <SelectField label="Kind" options={kinds} value={kind} onChange={setKind} />
      {isUnavailable && (
        <p className="text-muted text-sm">
          Weir cannot send e-mail yet. The operator sets <code>SMTP_URL</code> and <code>SMTP_FROM</code> for
          the dashboard API.
        </p>
      )}
      <TextField label="Name" required maxLength={100} value={name} onText={setName} />
      <TextField
        label={shown?.address ?? ''}
        required
        type={kind === 'email' ? 'email' : 'url'}
        placeholder={shown?.example}
        hint={
          kind === 'email'
            ? undefined
            : 'Addresses in private networks need ALERT_TARGETS_PRIVATE, which the operator sets.'
        }
        value={address}
        onText={setAddress}
      />
    </Form>
  );
}
