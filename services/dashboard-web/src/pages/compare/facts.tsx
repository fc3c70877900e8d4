import { useState } from 'react';
import type { WholeEvent } from '../../event/event-query.ts';
import type { EventText } from '../../event/event-text.ts';
import { formatCount, formatCounted, formatDuration } from '../../format/number.ts';
import { describeCost, formatCost, nameKind } from '../../format/priced.ts';
import { NoValue } from '../../table/table.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';

/** What is compared, by its name; null where a side has none. */
export type Facts = Record<string, string | null>;

/** Values of two events or traces side by side: those that differ, and the others on a click. */
export function FactsTable({ before, after }: { before: Facts; after: Facts }) {
  const [isAll, setAll] = useState(false);
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => (before[name] ?? null) !== null || (after[name] ?? null) !== null,
  );
  const differing = all.filter((name) => (before[name] ?? null) !== (after[name] ?? null));
  const names = isAll ? all : differing;
  const equal = all.length - differing.length;
  return (
    <div className="card overflow-hidden">
      <table className="w-full table-fixed border-collapse text-sm">
        <caption className="sr-only">Values side by side</caption>
        <tbody>
          {names.map((name) => (
            <FactRow key={name} name={name} values={[before[name] ?? null, after[name] ?? null]} />
          ))}
        </tbody>
      </table>
      {equal > 0 && (
        <Button
          look="quiet"
          size="small"
          className="m-1"
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        >
          {isAll ? 'Hide' : 'Show'} {formatCounted(equal, 'equal value')}
        </Button>
      )}
    </div>
  );
}

function FactRow({ name, values }: { name: string; values: [string | null, string | null] }) {
  const isChanged = values[0] !== values[1];
  return (
    <tr className="border-line border-b last:border-0">
      <th scope="row" className="w-1/4 px-3 py-1 text-left font-normal text-muted [overflow-wrap:anywhere]">
        <ShownText text={name} />
      </th>
      {values.map((value, side) => (
        <td
          // biome-ignore lint/suspicious/noArrayIndexKey: the sides never change places.
          key={side}
          data-changed={isChanged}
          className={classes(
            'px-3 py-1 [overflow-wrap:anywhere]',
            isChanged && (side === 0 ? 'bg-bad-soft' : 'bg-good-soft'),
          )}
        >
          {value === null ? <NoValue /> : <ShownText text={value} />}
        </td>
      ))}
    </tr>
  );
}

/** Times, tokens, cost by kind of usage, and attributes. */
export function eventFacts(event: WholeEvent, { attributes, llm }: EventText): Facts {
  const count = (value: number | null | undefined) =>
    value === null || value === undefined ? null : formatCount(value);
  return {
    [event.type === 'llm' ? 'Model' : 'Tool']: event.name,
    Status: event.state === 'ok' ? 'OK' : `Error ${event.errorCode ?? ''} ${event.errorMessage ?? ''}`.trim(),
    Duration: formatDuration(event.durationMs),
    'Input tokens': count(event.inputTokens),
    'Tokens read from a cache': count(event.cacheReadTokens),
    'Tokens written to a cache': count(event.cacheWriteTokens),
    'Output tokens': count(event.outputTokens),
    'Reasoning tokens': count(llm?.usage.reasoning),
    Cost: event.cost === null ? null : describeCost({ cost: event.cost, bound: event.costBound }),
    ...Object.fromEntries(
      (event.costReason?.lines ?? []).map(({ kind, cost, bound }) => [
        `Cost of ${nameKind(kind).toLowerCase()}`,
        cost === null ? null : formatCost({ cost, bound }),
      ]),
    ),
    Source: event.source,
    User: event.userId,
    Agent: event.agentId,
    ...Object.fromEntries(attributes.map(({ key, value }) => [key, value])),
  };
}
