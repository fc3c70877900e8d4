import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/**
 * Text without regard to case, in every script: Unicode's simple case folding (`Σ`, `σ` and `ς` are one
 * letter, `ß` and `ss` are not). It is the same in a database of any locale, since the collation is built
 * into Postgres, and the same as that of regular expressions with the flags `iu`, which searches of payloads
 * use (`event/segment/find-text.ts`).
 */

/** The condition that a text contains another. */
export function containsFolded(text: SQLWrapper, wanted: string): SQL {
  return sql`strpos(${folded(text)}, ${folded(sql`${wanted}::text`)}) > 0`;
}

/** The condition that a text begins with another. */
export function startsFolded(text: SQLWrapper, prefix: string): SQL {
  return sql`starts_with(${folded(text)}, ${folded(sql`${prefix}::text`)})`;
}

/** {@link containsFolded} for a value that was read. */
export function hasFoldedText(wanted: string): (text: string | null) => boolean {
  const pattern = new RegExp(RegExp.escape(wanted), 'iu');
  return (text) => text !== null && pattern.test(text);
}

/** {@link startsFolded} for a value that was read. */
export function startsFoldedText(prefix: string): (text: string) => boolean {
  const pattern = new RegExp(`^${RegExp.escape(prefix)}`, 'iu');
  return (text) => pattern.test(text);
}

function folded(text: SQLWrapper): SQL {
  return sql`casefold(${text} COLLATE "pg_c_utf8")`;
}
