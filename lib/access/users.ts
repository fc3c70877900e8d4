import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { auditLog, memberships, sessions, users } from '../db/schema.ts';
import { normalizeEmail } from './email.ts';
import { hashPassword } from './password.ts';

/**
 * Makes a user the owner of a space. A user who is there already gets the new password, and every session opened
 * with the old one ends.
 *
 * @throws when there is no such space.
 */
export async function createOwner(
  database: Database,
  owner: { email: string; password: string; spaceId: string },
): Promise<void> {
  const email = normalizeEmail(owner.email);
  const passwordHash = await hashPassword(owner.password);
  // One statement: a user without the membership could sign in and see nothing.
  await database.execute(sql`
    WITH owner AS (
      INSERT INTO ${users} (email, password_hash) VALUES (${email}, ${passwordHash})
      ON CONFLICT (email) DO UPDATE SET password_hash = excluded.password_hash
      RETURNING id
    ), ended AS (
      DELETE FROM ${sessions} WHERE user_id IN (SELECT id FROM owner)
    ), membership AS (
      INSERT INTO ${memberships} (space_id, user_id, role)
      SELECT ${owner.spaceId}::uuid, id, 'owner' FROM owner
      ON CONFLICT (space_id, user_id) DO UPDATE SET role = excluded.role
    )
    INSERT INTO ${auditLog} (space_id, actor, action, details)
    SELECT ${owner.spaceId}::uuid, 'operator', 'owner.set', jsonb_build_object('userId', id) FROM owner`);
}
