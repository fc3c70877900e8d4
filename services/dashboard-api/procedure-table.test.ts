import { expect, test } from 'vitest';
import { type Procedure, procedures } from '../../test/support/protocols/procedures.ts';

/** The document is generated. After a change of the router, `npm test -- procedure-table --update=all` writes it again. */

test('every procedure has a schema of its output', () => {
  expect(procedures.filter(({ output }) => output === undefined).map(({ path }) => path)).toEqual([]);
  // A schema that accepts everything would document nothing.
  const isOpen = ({ type, output }: Procedure) => type === 'query' && Object.keys(output ?? {}).length === 0;
  expect(procedures.filter(isOpen).map(({ path }) => path)).toEqual([]);
});

test('docs/dashboard-procedures.md lists every procedure, its kind and who may call it', async () => {
  const rows = procedures
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(
      ({ path, type, access, isConfirmed, isStatistics }) =>
        `| \`${path}\` | ${type} | ${access}${isConfirmed ? ', confirmed' : ''}${isStatistics ? ', statistics' : ''} |`,
    );
  const document = `# Procedures of the dashboard API

Generated from the router by \`services/dashboard-api/procedure-table.test.ts\`. Inputs and outputs are in \`GET /openapi.json\` and
in the type \`AppRouter\`; outputs are validated, and members that are not described are not sent. A role includes the roles
below it: owner, admin, member, viewer. Procedures that need a role in one space take a \`spaceId\` too. “confirmed”: of a session
that [authenticated a short time ago](dashboard.md#confirmation). “statistics”: for [read keys](read-api.md#read-keys) of this
scope, too.

| Procedure | Kind | Least role |
|---|---|---|
${rows.join('\n')}
`;
  await expect(document).toMatchFileSnapshot('../../docs/dashboard-procedures.md');
});
