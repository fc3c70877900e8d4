/**
 * Attempts to separate the known events of a statement from the new ones: another writer may store some in between. After
 * that the statement is bisected, down to single events, which are either new or known.
 */
export const separationsMax = 4;

/** How long a database counts as not distributed: after `weir migrate --citus` its writers store as before for up to this time. */
export const distributionReuseMs = 60_000;

/** Deltas that one statement folds at most, some ten seconds of full load: about a second of work after folding did not succeed for long. */
export const deltasPerFoldMax = 50_000;
