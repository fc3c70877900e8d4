import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { attributePrefix, labelOf } from '../filter/conditions.ts';
import { type NamedField, NamedValue } from '../filter/named-value.tsx';
import { useFilterBy } from '../filter/use-filter.ts';
import { formatDuration } from '../format/number.ts';
import { formatTime, nameZone } from '../format/time.ts';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import type { WholeEvent } from './event-query.ts';
import type { EventText } from './event-text.ts';

const flagTexts: Record<WholeEvent['flags'][number], string> = {
  ends_before_start: 'Ends before it starts.',
  duration_mismatch: 'The duration differs from the time between start and end.',
  clock_ahead: 'Ended after it was received: the clock of the client is ahead.',
  token_sum_mismatch: 'Input and output tokens do not add up to the total.',
  contradictory_usage: 'A token count is negative, or less than its parts.',
  cost_mismatch: 'The reported cost is more than 1% from that at the price.',
};

/** Names open what they name; a click on another value filters the list by it. */
export function EventFields({ event, parts }: { event: WholeEvent; parts: EventText }) {
  const values: [label: string, field: string, value: string | null][] = [
    [event.type === 'llm' ? 'Model' : 'Tool', 'name', event.name],
    ['Source', 'source', event.source],
    ['User', 'userId', event.userId],
    ['Thread', 'threadId', event.threadId],
    ['Trace', 'traceId', event.traceId],
    ['Agent', 'agentId', event.agentId],
    ['Agent group', 'agentGroupId', event.agentGroupId],
  ];
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-0.5 text-sm">
      <Field label="Started">{formatTime(event.startTimeMs)}</Field>
      <Field label="Duration">{formatDuration(event.durationMs)}</Field>
      <Field label="Received">{formatTime(Date.parse(event.receivedAt))}</Field>
      <Field label="Time zone">
        <span className="text-muted">{nameZone()}</span>
      </Field>
      {event.flags.map((flag) => (
        <Field key={flag} label="Flag">
          <span className="text-warn">
            <TriangleAlert aria-hidden className="mr-1 inline size-3.5" />
            {flagTexts[flag]}
          </span>
        </Field>
      ))}
      {values.map(
        ([label, field, value]) =>
          value !== null &&
          value !== '' && <FilterField key={label} label={label} field={field} value={value} event={event} />,
      )}
      {parts.sourcePackage !== undefined && (
        <Field label="Package">
          <ShownText text={[parts.sourcePackage, parts.sourceFunction].filter(Boolean).join(' · ')} />
        </Field>
      )}
      {parts.attributes.map(({ key, value }) => (
        <FilterField key={key} label={key} field={attributePrefix + key} value={value} event={event} />
      ))}
      <Field label="Id">
        <span className="truncate font-mono text-xs">{event.id}</span>
        <CopyButton label="Copy the id" text={event.id} />
      </Field>
    </dl>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="max-w-36 truncate text-muted leading-6" title={describeText(label)}>
        <ShownText text={label} />
      </dt>
      <dd className="flex min-h-6 min-w-0 items-center gap-1">{children}</dd>
    </>
  );
}

const namedFields: readonly string[] = ['name', 'userId', 'threadId', 'traceId'] satisfies NamedField[];

function isNamed(field: string): field is NamedField {
  return namedFields.includes(field);
}

interface FilterFieldProps extends FilterValueProps {
  label: string;
  event: WholeEvent;
}

function FilterField({ label, field, value, event }: FilterFieldProps) {
  return (
    <Field label={label}>
      {isNamed(field) ? (
        <NamedValue field={field} value={value} event={event} className="text-accent" />
      ) : (
        <FilterValue field={field} value={value} />
      )}
    </Field>
  );
}

interface FilterValueProps {
  field: string;
  value: string;
}

/** Filters the list on click; Alt-click excludes. For values that have no page of their own. */
function FilterValue({ field, value }: FilterValueProps) {
  const filterBy = useFilterBy();
  const shown = describeText(value);
  return (
    <button
      type="button"
      title={`${shown}\nClick to show only these, Alt-click to exclude them.`}
      aria-label={`Only events with ${describeText(labelOf(field))} ${shown}`}
      className="min-h-6 max-w-full truncate rounded-sm text-left hover:underline hover:decoration-edge"
      onClick={(click) => {
        click.stopPropagation();
        filterBy({ field, value, isExcluded: click.altKey });
      }}
    >
      <ShownText text={value} />
    </button>
  );
}
