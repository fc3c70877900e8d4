import { readJson, writePrivateJson } from '../data-directory/json-file.ts';

/**
 * The steps of a restore, recorded when complete: one that was killed continues with the next.
 *
 * - `requested`: nothing has changed.
 * - `copied`: the backup is beside the data directory. Everything still runs.
 * - `recovered`: the copy has the restored time and what changed since. Only ingest runs.
 * - `swapped`: the copy is the data directory, and the old one is aside.
 * - `done` and `failed`: everything runs, after `failed` on the old data directory.
 */
export type RestoreStep = 'requested' | 'copied' | 'recovered' | 'swapped' | 'done' | 'failed';

/** `<WEIR_DATA_DIR>/restore.json`: the last restore. */
export interface RestoreJournal {
  /** When it was requested: part of the name of the old data directory. */
  readonly id: string;
  /** The time to restore to, ISO 8601; null for the end of the archive. */
  readonly to: string | null;
  readonly directory: string;
  readonly label: string;
  readonly step: RestoreStep;
  readonly progress?: string;
  /** The last change that the restored database has, ISO 8601. */
  readonly restoredTo?: string;
  /** What was applied, what is delivered again, and what is lost; for the operator. */
  readonly caughtUp?: { readonly lost: readonly string[] };
  readonly aside?: string;
  readonly failure?: string;
}

export class RestoreRecord {
  readonly #file: string;
  #journal: RestoreJournal;

  constructor(file: string, journal: RestoreJournal) {
    this.#file = file;
    this.#journal = journal;
  }

  get journal(): RestoreJournal {
    return this.#journal;
  }

  /** @throws the system's error when the file cannot be written: nothing has changed then. */
  change(change: Partial<RestoreJournal>): void {
    const journal = { ...this.#journal, ...change };
    writePrivateJson(this.#file, journal);
    this.#journal = journal;
  }
}

/** @returns undefined when there is none, or it is over. */
export function findOpenRestore(file: string): RestoreRecord | undefined {
  const journal = readJson<RestoreJournal>(file);
  if (journal === undefined || journal.step === 'done' || journal.step === 'failed') return undefined;
  return new RestoreRecord(file, journal);
}
