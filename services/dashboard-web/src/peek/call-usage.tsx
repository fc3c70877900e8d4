import type { WholeEvent } from '../event/event-query.ts';
import type { Usage } from '../event/event-text.ts';
import { formatCount } from '../format/number.ts';
import { describeCost, formatCost, nameKind, withCents } from '../format/priced.ts';
import { SpaceLink } from '../space/space.tsx';
import { ShownText } from '../text/shown-text.tsx';
import { classes } from '../ui/classes.ts';

type Reason = NonNullable<WholeEvent['costReason']>;

/** The tokens of a call and its cost; nothing for events of tools. */
export function CallUsage({ event, usage }: { event: WholeEvent; usage: Usage | undefined }) {
  if (usage === undefined) return null;
  return (
    <div>
      <TokenBar usage={usage} />
      <CallCost event={event} />
    </div>
  );
}

/** The cost of a call, and how it came about: the price of each kind of usage, and whose price it is. */
function CallCost({ event: { cost, costBound, costReason } }: { event: WholeEvent }) {
  if (costReason === null || (cost === null && costReason.lines.length === 0)) return null;
  return (
    <div className="mt-2 flex flex-col gap-1 text-xs">
      <p>
        <span className="text-muted">Cost </span>
        {cost !== null && <span className="font-medium">{describeCost({ cost, bound: costBound })}</span>}
        {costReason.reported !== null && <span className="text-muted"> as the sender reported it</span>}
        {cost === null && <PricesLink text="no price" />}
      </p>
      {costReason.lines.length > 0 && <Lines reason={costReason} />}
      <Source reason={costReason} />
    </div>
  );
}

function Lines({ reason: { lines, tier } }: { reason: Reason }) {
  return (
    <table className="w-full [&_td]:py-0.5 [&_td:not(:first-child)]:text-right">
      <caption className="sr-only">Cost by kind of usage; prices in US dollars per million</caption>
      <tbody>
        {lines.map((line) => (
          <tr key={line.kind} title={describeLine(line, tier)}>
            <td className="text-muted">{nameKind(line.kind)}</td>
            <td>{formatCount(line.count)}</td>
            <td className="text-muted">{line.price === null ? 'no price' : `× $${withCents(line.price)}`}</td>
            <td>{line.cost !== null && formatCost({ cost: line.cost, bound: line.bound })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The conditions of a line's price, and what it lacks. */
function describeLine(
  { tier, inputAbove, bound, price }: Reason['lines'][number],
  asked: string | null,
): string {
  return [
    price === null ? 'No price' : 'US dollars per million',
    tier !== null && `tier ${tier}`,
    inputAbove !== null && `more than ${formatCount(inputAbove)} input tokens`,
    tier !== asked && `no price of the tier ${asked}`,
    tier === asked && bound !== 'exact' && price !== null && 'no price of its own: that of the whole',
  ]
    .filter(Boolean)
    .join(', ');
}

/** The conditions of the call, and whose price applies. */
function Source({ reason: { reported, priced, bound, price, ...conditions } }: { reason: Reason }) {
  const { tier, region, inputAbove } = conditions;
  if (price === null) return null;
  const { origin, model, validFrom, list } = price;
  const words = [
    tier !== null && `tier ${tier}`,
    region !== null && `region ${region}`,
    inputAbove !== null && `more than ${formatCount(inputAbove)} input tokens`,
  ].filter(Boolean);
  return (
    <p className="text-muted">
      {reported !== null &&
        priced !== null &&
        `At the price it is ${describeCost({ cost: priced, bound })}. `}
      {origins[origin]} of <ShownText text={model} />
      {list === null ? validFrom !== '1970-01-01' && ` from ${validFrom}` : `, ${list.source}, ${list.day}`}
      {words.length > 0 && `: ${words.join(', ')}`}. <PricesLink text="Prices" />
    </p>
  );
}

const origins = {
  space: 'Price of this space',
  operator: 'Price of the operator',
  list: 'List price',
} as const;

function PricesLink({ text }: { text: string }) {
  return (
    <SpaceLink page="prices" className="text-muted underline decoration-line hover:decoration-current">
      {text}
    </SpaceLink>
  );
}

interface Part {
  label: string;
  tokens: number;
  color: string;
}

function TokenBar({ usage }: { usage: Usage }) {
  const parts = partsOf(usage).filter(({ tokens }) => tokens > 0);
  const sum = parts.reduce((total, { tokens }) => total + tokens, 0);
  if (sum === 0) return null;
  return (
    <div>
      <div className="flex h-2 gap-px overflow-hidden rounded-full" aria-hidden>
        {parts.map(({ label, tokens, color }) => (
          <div key={label} className={classes('h-full min-w-1', color)} style={{ flexGrow: tokens }} />
        ))}
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {parts.map(({ label, tokens, color }) => (
          <div key={label} className="flex items-center gap-1.5">
            <span aria-hidden className={classes('size-2 rounded-xs', color)} />
            <dt className="text-muted">{label}</dt>
            <dd className="font-medium">{formatCount(tokens)}</dd>
          </div>
        ))}
        {usage.total !== undefined && (
          <div className="flex items-center gap-1.5">
            <dt className="text-muted">Total</dt>
            <dd className="font-medium">{formatCount(usage.total)}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** Cached tokens are a part of the input, reasoning tokens one of the output. */
function partsOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage): Part[] {
  return [
    { label: 'Input', tokens: Math.max(0, input - cacheRead - cacheWrite), color: 'bg-accent' },
    { label: 'Cache read', tokens: cacheRead, color: 'bg-tool-line' },
    { label: 'Cache write', tokens: cacheWrite, color: 'bg-good' },
    { label: 'Output', tokens: Math.max(0, output - reasoning), color: 'bg-llm-line' },
    { label: 'Reasoning', tokens: reasoning, color: 'bg-warn' },
  ];
}
