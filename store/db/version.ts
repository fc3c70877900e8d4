import { readFileSync } from 'node:fs';

export interface JournalEntry {
  readonly tag: string;
  /** Time in milliseconds, which is also the migration's version in the database. */
  readonly when: number;
}

const journal: { entries: JournalEntry[] } = JSON.parse(
  readFileSync(new URL('./migrations/meta/_journal.json', import.meta.url), 'utf8'),
);

export const firstMigration: JournalEntry = journal.entries[0] ?? { tag: '', when: 0 };

export const newestMigration: JournalEntry = journal.entries.at(-1) ?? { tag: '', when: 0 };

/** The name of the schema that this version of Weir is made for. */
export const schemaVersion = newestMigration.tag;
