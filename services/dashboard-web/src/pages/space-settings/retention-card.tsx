import { useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { formatCounted } from '../../format/number.ts';
import { formatToMinute } from '../../format/time.ts';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { Button } from '../../ui/button.tsx';
import { Confirmed } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { CommandLine } from './operator-card.tsx';

/** The API's limit. */
const daysMax = 36_500;

export function RetentionCard({ retentionDays }: { retentionDays: number | null }) {
  const { id: spaceId, role } = useSpace();
  const [text, setText] = useState(retentionDays === null ? '' : String(retentionDays));
  const { mutateAsync } = useSpaceMutation('spaces.setRetention', {
    reload: ['spaces.get', 'spaces.previewRetention'],
  });
  const days = text.trim() === '' ? null : Number(text);
  const isValid = days === null || (Number.isInteger(days) && days >= 1 && days <= daysMax);
  const mayChange = hasRole(role, 'owner');
  return (
    <Card title="Retention">
      <div className="flex flex-col gap-3">
        <p className="text-muted text-sm">
          {retentionDays === null
            ? 'Events are kept forever, unless the operator has set a maximum.'
            : `Events are deleted permanently ${formatCounted(retentionDays, 'day')} after they were received.`}
        </p>
        {mayChange ? (
          <div className="flex flex-wrap items-end gap-2">
            <TextField
              label="Days"
              className="w-40"
              inputMode="numeric"
              placeholder="forever"
              value={text}
              problem={isValid ? undefined : `A whole number from 1 to ${daysMax}.`}
              onText={setText}
            />
            <Confirmed
              button={(ask) => (
                <Button
                  look="primary"
                  disabled={!isValid || days === retentionDays}
                  onClick={ask}
                  text="Set the retention"
                />
              )}
              title="Set the retention"
              action="Set the retention"
              onConfirm={() => mutateAsync({ retentionDays: days })}
            >
              <RetentionEffect days={days} />
            </Confirmed>
          </div>
        ) : (
          <OperatorHint spaceId={spaceId} />
        )}
        {isValid && <RetentionEffect days={days} />}
      </div>
    </Card>
  );
}

function OperatorHint({ spaceId }: { spaceId: string }) {
  return (
    <>
      <p className="text-muted text-sm">An owner of the space can change it here, or the operator with:</p>
      <CommandLine text={`weir space set ${spaceId} --retention-days N`} />
    </>
  );
}

function RetentionEffect({ days }: { days: number | null }) {
  const { data, error } = useSpaceQuery('spaces.previewRetention', { retentionDays: days });
  if (error !== null) return <p className="text-bad text-sm">{describeFailure(error).message}</p>;
  if (data === undefined) return <p className="text-muted text-sm">Counting …</p>;
  const { effectiveDays, cutoff, events, oldest } = data;
  if (effectiveDays === null || cutoff === null) return <p className="text-sm">Nothing would be deleted.</p>;
  const isCapped = effectiveDays !== days;
  return (
    <p className="text-sm">
      {isCapped && `The operator's maximum of ${formatCounted(effectiveDays, 'day')} applies. `}
      {events === 0 || oldest === null ? (
        'No stored event is older, so nothing would be deleted now.'
      ) : (
        <>
          <strong className="text-bad">{formatCounted(events, 'event')}</strong>, received from{' '}
          {formatToMinute(Date.parse(oldest))} to {formatToMinute(Date.parse(cutoff))}, would be deleted
          permanently within minutes. Only a backup can restore them.
        </>
      )}
    </p>
  );
}
