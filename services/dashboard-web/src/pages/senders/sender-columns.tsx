import { formatCount } from '../../format/number.ts';
import { formatAgo, formatTime, type Zone } from '../../format/time.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/table.tsx';
import { countReceived, type Sender } from './sender.ts';

export function senderColumns(zone: Zone): Column<Sender>[] {
  return [
    { title: 'Sender', className: '[overflow-wrap:anywhere]', cell: (sender) => <Names sender={sender} /> },
    {
      title: 'Received',
      isNumber: true,
      isExtra: true,
      cell: (sender) => formatCount(countReceived(sender)),
    },
    { title: 'Stored', isNumber: true, cell: ({ stored }) => formatCount(stored) },
    { title: 'Merged', isNumber: true, isExtra: true, cell: ({ merged }) => formatCount(merged) },
    { title: 'Left out', isNumber: true, cell: ({ leftOut }) => formatCount(leftOut) },
    {
      title: 'Refused',
      isNumber: true,
      cell: ({ refused }) => (refused === 0 ? '0' : <Badge tone="bad">{formatCount(refused)}</Badge>),
    },
    {
      title: 'Last seen',
      isExtra: true,
      cell: ({ lastSeenAt }) => (
        <time
          dateTime={lastSeenAt}
          title={formatTime(Date.parse(lastSeenAt), zone)}
          className="whitespace-nowrap text-muted"
        >
          {formatAgo(Date.parse(lastSeenAt), Date.now())}
        </time>
      ),
    },
  ];
}

/** The service above its library and SDK, and why its last refused span was refused. */
function Names({ sender: { service, scope, version, sdk, refusal } }: { sender: Sender }) {
  return (
    <>
      <span className="block font-medium">
        {service === '' ? <span className="text-muted">unnamed service</span> : <ShownText text={service} />}
      </span>
      <span className="block text-xs">
        <ShownText text={`${scope} ${version}`.trim()} />
      </span>
      <span className="block text-muted text-xs">
        <ShownText text={sdk} />
      </span>
      {refusal !== undefined && (
        <span className="block text-bad text-xs">
          Last refusal: <ShownText text={refusal} />
        </span>
      )}
    </>
  );
}
