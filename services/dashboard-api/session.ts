import { createHash, randomBytes } from 'node:crypto';
import type { Sql } from '../../lib/db/connect.ts';
import { sessionTtlMs } from '../../lib/limits.ts';
import type { Role } from './role.ts';

/** Who is signed in, and every space of theirs: what each call is allowed by. */
export interface Visitor {
  userId: string;
  email: string;
  spaces: { id: string; name: string; role: Role }[];
}

/** The dashboard's sessions. A token is an opaque 256-bit text; Postgres keeps its SHA-256 only. */
export interface Sessions {
  /**
   * Opens a session for a user whose password was just verified against `passwordHash`.
   *
   * @returns the token; undefined when the password was changed or the user removed meanwhile.
   */
  open(user: { id: string; passwordHash: string }): Promise<string | undefined>;
  /** @returns undefined when the token was never given out, was signed out, or has expired. */
  find(token: string): Promise<Visitor | undefined>;
  /** Ends a session; ending one that is not there changes nothing. */
  close(token: string): Promise<void>;
}

const tokenBytes = 32;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

export function openSessions(sql: Sql): Sessions {
  return {
    open: (user) => openSession(sql, user),
    find: (token) => findVisitor(sql, token),
    close: async (token) => {
      await sql`DELETE FROM sessions WHERE token_hash = ${hashToken(token)}`;
    },
  };
}

async function openSession(
  sql: Sql,
  user: { id: string; passwordHash: string },
): Promise<string | undefined> {
  const token = randomBytes(tokenBytes).toString('base64url');
  // A user's expired sessions leave when the next one opens: the table needs no other cleaning.
  const opened = await sql`
    WITH expired AS (DELETE FROM sessions WHERE user_id = ${user.id} AND expires_at <= now())
    INSERT INTO sessions (token_hash, user_id, expires_at)
    SELECT ${hashToken(token)}, id, now() + ${sessionTtlMs}::float8 * interval '1 millisecond'
    FROM users WHERE id = ${user.id} AND password_hash = ${user.passwordHash}
    RETURNING user_id`;
  return opened.length === 1 ? token : undefined;
}

interface VisitorRow {
  userId: string;
  email: string;
  /** Null for a user who belongs to no space. */
  spaceId: string | null;
  name: string;
  role: Role;
}

async function findVisitor(sql: Sql, token: string): Promise<Visitor | undefined> {
  if (!tokenShape.test(token)) return undefined;
  const rows = await sql<VisitorRow[]>`
    SELECT users.id AS "userId", email, spaces.id AS "spaceId", spaces.name, role
    FROM sessions
    JOIN users ON users.id = sessions.user_id
    LEFT JOIN (memberships JOIN spaces ON spaces.id = memberships.space_id) ON memberships.user_id = users.id
    WHERE token_hash = ${hashToken(token)} AND expires_at > now()
    ORDER BY spaces.id`;
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    userId: first.userId,
    email: first.email,
    spaces: rows.flatMap(({ spaceId, name, role }) =>
      spaceId === null ? [] : [{ id: spaceId, name, role }],
    ),
  };
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
