import { expect, test } from 'vitest';
import { procedures } from '../../test/support/protocols/procedures.ts';

/**
 * The document is generated: after a change of the router, `npm test -- procedure-table --update=all` writes
 * it anew.
 */
test('docs/dashboard-procedures.md lists every procedure, its kind, and who may call it', async () => {
  const rows = procedures
    .map(({ path, type, access, inputs }) => {
      const members = inputs.flatMap(({ properties = {}, required = [] }) =>
        Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`)),
      );
      return `| \`${path}\` | ${type} | ${access} | ${members.map((name) => `\`${name}\``).join(' ')} |`;
    })
    .sort();
  const document = [
    '# Procedures of the dashboard API',
    '',
    'Generated from the router by `services/dashboard-api/procedure-table.test.ts`. A role includes the roles below it: owner, admin,',
    'member, viewer. [dashboard-api.md](dashboard-api.md) says what the procedures promise.',
    '',
    '| Procedure | Kind | Least role | Input |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  await expect(document).toMatchFileSnapshot('../../docs/dashboard-procedures.md');
});
