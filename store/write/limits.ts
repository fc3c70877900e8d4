/**
 * Attempts to separate the known events of a statement from the new ones: another writer may store some in
 * between. After that the statement is bisected, down to single events, which are either new or known.
 */
export const separationsMax = 4;

/**
 * After a statement had a known id, all are expected to have some for this time: a retry seldom comes alone.
 * A statement for new events only that fails leaves dead rows in the ledger, and does part of its work for
 * nothing.
 */
export const knownIdsExpectedMs = 10_000;

/**
 * Deltas that one statement folds at most, some ten seconds of full load: about a second of work after
 * folding did not succeed for long.
 */
export const deltasPerFoldMax = 50_000;
