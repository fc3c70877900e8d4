/**
 * Attempts to separate the known events of a statement from the new ones: another writer may store some in between. After
 * that the statement is bisected, down to single events, which are either new or known.
 */
export const separationsMax = 4;
