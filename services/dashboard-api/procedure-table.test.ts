import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type JsonSchema,
  type Procedure,
  procedures,
  toJsonSchema,
} from '../../test/support/protocols/procedures.ts';
import {
  collectNamed,
  membersText,
  structureText,
  typeText,
} from '../../test/support/protocols/type-text.ts';
import { eventFilter } from './procedures/filter-input.ts';

/**
 * The document is generated. After a change of the router, `npm test -- procedure-table --update=all` writes it again.
 */

const sorted = procedures.toSorted((a, b) => (a.path < b.path ? -1 : 1));
const filter = toJsonSchema(z.object(eventFilter).meta({ id: 'EventFilter' }), 'input');
const filterMembers = new Set(membersText(filter));
const filterNames = Object.keys(filter.properties ?? {});

test('every procedure has a schema of its output', () => {
  expect(procedures.filter(({ output }) => output === undefined).map(({ path }) => path)).toEqual([]);
  // A schema that accepts everything would document nothing.
  const isOpen = ({ type, output }: Procedure) => type === 'query' && outputText(output) === '';
  expect(procedures.filter(isOpen).map(({ path }) => path)).toEqual([]);
});

test('docs/dashboard-procedures.md lists every procedure, its kind, who may call it, what it takes and returns', async () => {
  const named = new Map<string, JsonSchema>([['EventFilter', filter]]);
  for (const { output } of procedures) collectNamed(output?.messages ?? output ?? {}, named);
  const rows = sorted.map(({ path, type, access, isConfirmed, isStatistics, inputs, output }) =>
    row([
      `\`${path}\``,
      type,
      `${access}${isConfirmed ? ', confirmed' : ''}${isStatistics ? ', statistics' : ''}`,
      inputText(inputs),
      code(outputText(output)),
    ]),
  );
  const types = [...named]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => declaration(name, schema));
  const document = [
    '# Procedures of the dashboard API',
    '',
    'Generated from the router by `services/dashboard-api/procedure-table.test.ts`. A role includes the roles below it: owner, admin,',
    'member, viewer. [dashboard-api.md](dashboard-api.md) says what the procedures promise. Those that need a role in one space take a',
    '`spaceId` too (`Uuid`, optional). “confirmed”: of a session that [authenticated a short time ago](dashboard-api.md#confirmation). “statistics”: for [read keys](dashboard-api.md#read-keys) of this scope, too. `?` is optional, `1..200` a range of numbers.',
    '',
    '| Procedure | Kind | Least role | Input | Output |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '## Types',
    '',
    'Outputs are validated against them before they are sent; members that are not here are not sent. Messages of subscriptions are',
    'validated in tests only. `Uuid`, `Instant` (ISO 8601 with a zone) and `Day` (`YYYY-MM-DD`) are strings.',
    '',
    '```ts',
    types.join('\n\n'),
    '```',
    '',
  ].join('\n');
  await expect(document).toMatchFileSnapshot('../../docs/dashboard-procedures.md');
});

function inputText(inputs: readonly JsonSchema[]): string {
  const members = inputs.flatMap((input) => {
    const all = membersText(input);
    if (!filterNames.every((name) => Object.hasOwn(input.properties ?? {}, name))) return all;
    return ['EventFilter', ...all.filter((member) => !filterMembers.has(member))];
  });
  return members
    .filter((member) => member !== 'spaceId?: Uuid')
    .map(code)
    .join('<br>');
}

function outputText(output: JsonSchema | undefined): string {
  if (output?.messages !== undefined) return typeText(output.messages);
  const text = typeText(output ?? {});
  return text === 'unknown' ? '' : text;
}

function declaration(name: string, schema: JsonSchema): string {
  if (schema.type !== 'object')
    return `type ${name} =\n  | ${structureText(schema).replaceAll('} | {', '}\n  | {')};`;
  return [`type ${name} = {`, ...membersText(schema).map((member) => `  ${member};`), '};'].join('\n');
}

function code(text: string): string {
  return text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
