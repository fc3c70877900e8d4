import { expect, test } from 'vitest';
import { type Procedure, procedures } from '../../test/support/protocols/procedures.ts';

/**
 * The document is generated. After a change of the router, `npm test -- procedure-table --update=all` writes
 * it again.
 */

test('every procedure has a schema of its output', () => {
  expect(procedures.filter(({ output }) => output === undefined).map(({ path }) => path)).toEqual([]);
  // A schema that accepts everything would document nothing.
  const isOpen = ({ type, output }: Procedure) => type === 'query' && Object.keys(output ?? {}).length === 0;
  expect(procedures.filter(isOpen).map(({ path }) => path)).toEqual([]);
});

/** The least roles that procedures have, each a section of the document. */
const accesses = [...new Set(procedures.map(({ access }) => access))].toSorted();

test('docs/dashboard-procedures.md lists every procedure, its kind and who may call it', async () => {
  const listOf = (access: Procedure['access'], kind: Procedure['type']) => {
    const listed = procedures.filter((one) => one.access === access && one.type === kind);
    const names = listed
      .map(
        ({ path, isConfirmed, isStatistics, isAnnotation }) =>
          `\`${path}\`${isConfirmed ? '\u00a0(confirmed)' : ''}${isStatistics ? '\u00a0(statistics)' : ''}${isAnnotation ? '\u00a0(annotation)' : ''}`,
      )
      .toSorted();
    if (names.length === 0) return [];
    return [`**${kind}**: ${names.join(', ')}`.replaceAll(/(.{1,116})(?: |$)/g, '$1\n')];
  };
  const document = `# Procedures of the dashboard API

Generated from the router by \`services/dashboard-api/procedure-table.test.ts\`. \`GET /openapi.json\` and the type
\`AppRouter\` describe inputs and outputs. Each heading is the least role, which includes those below it: owner, admin,
member, viewer. Procedures that need a role in one space take a \`spaceId\` too. “confirmed”: of a session that
[authenticated a short time ago](dashboard.md#confirmation). “statistics”, “annotation”: also for
[keys](read-api.md#read-keys) of this scope.

${accesses.map((access) => [`## ${access}\n`, ...(['query', 'mutation', 'subscription'] as const).flatMap((kind) => listOf(access, kind))].join('\n')).join('\n')}`;
  await expect(document).toMatchFileSnapshot('../../docs/dashboard-procedures.md');
});
