import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { openPostgres } from '../../../store/db/connect.ts';

/** The roles of `store/db/roles/roles.sql`: the tables' owner, for migrations and operators, and services. */
const roles = {
  owner: 'weir_owner',
  ingest: 'weir_ingest',
  writer: 'weir_writer',
  'dashboard-api': 'weir_dashboard',
};

export type DatabaseUser = keyof typeof roles;

/**
 * The address of the database for a role, whose password is derived one way from the superuser's.
 * @param url with the name and password of the superuser.
 */
export function urlOfRole(url: string, user: DatabaseUser): string {
  const address = new URL(url);
  const role = roles[user];
  address.password = createHmac('sha256', address.password).update(role).digest('hex');
  address.username = role;
  return address.href;
}

/**
 * Creates missing roles, makes `weir_owner` the owner of the database, and sets the passwords.
 * @param url of the database, with the name and password of a superuser.
 */
export async function ensureRoles(url: string): Promise<void> {
  const statements = await readFile(new URL('../../../store/db/roles/roles.sql', import.meta.url), 'utf8');
  await using sql = openPostgres(url, { applicationName: 'weir-start', statementTimeoutMs: 0 });
  await sql.unsafe(statements);
  for (const user of Object.keys(roles) as DatabaseUser[]) {
    const { username, password } = new URL(urlOfRole(url, user));
    // A DDL statement takes no parameters; the password is hexadecimal.
    await sql`ALTER ROLE ${sql(username)} PASSWORD ${sql.unsafe(`'${password}'`)}`;
  }
}
