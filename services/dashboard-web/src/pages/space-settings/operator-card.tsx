import { Fragment } from 'react';
import type { Output } from '../../api/query.ts';
import { formatCount } from '../../format/number.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Card } from '../../ui/page.tsx';

/** Plan, limit and billing state. Only the operator changes them, with the command that is shown. */
export function OperatorCard({ space }: { space: Output<'spaces.get'> }) {
  const { id, plan, monthlyEventLimit, billingState } = space;
  const facts = [
    { label: 'Plan', value: plan ?? 'None' },
    {
      label: 'Monthly limit',
      value: monthlyEventLimit === null ? 'None' : `${formatCount(monthlyEventLimit)} events`,
    },
    { label: 'Billing', value: billingState },
  ];
  return (
    <Card title="Plan and limit">
      <dl className="grid grid-cols-3 gap-3 text-sm">
        {facts.map(({ label, value }) => (
          <div key={label}>
            <dt className="text-muted">{label}</dt>
            <dd className="font-medium [overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-3 mb-1 text-muted text-sm">Only the operator of Weir can change these:</p>
      <CommandLine text={`weir space set ${id} --plan NAME --monthly-events N --billing active`} />
    </Card>
  );
}

/** A command for the operator, to copy. Lines break before an option, not inside of one. */
export function CommandLine({ text }: { text: string }) {
  return (
    <div className="flex items-start gap-2">
      <code className="min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-xs [overflow-wrap:anywhere]">
        {text.split(/ (?=--)/).map((part, place) => (
          <Fragment key={part}>
            {place > 0 && ' '}
            <span className="inline-block max-w-full">{part}</span>
          </Fragment>
        ))}
      </code>
      <CopyButton label="Copy the command" text={text} shown="Copy" />
    </div>
  );
}
