import { readFileSync } from 'node:fs';

/** One migration in drizzle-kit's journal. */
export interface JournalEntry {
  /** The name of its file, without `.sql`. */
  readonly tag: string;
  /** Time in milliseconds, which is also the migration's version in the database. */
  readonly when: number;
}

const journal: { entries: JournalEntry[] } = JSON.parse(
  readFileSync(new URL('../migrations/meta/_journal.json', import.meta.url), 'utf8'),
);

/** The migration that makes an empty database. */
export const firstMigration: JournalEntry = journal.entries[0] ?? { tag: '', when: 0 };

/** The newest migration of this version of Weir. */
export const newestMigration: JournalEntry = journal.entries.at(-1) ?? { tag: '', when: 0 };

/** The name of the schema that this version of Weir is made for. */
export const schemaVersion = newestMigration.tag;
