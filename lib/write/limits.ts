/**
 * How often the known events of a statement are separated from the new ones. Another writer may store some of them in between; after
 * that the statement is bisected, down to single events, which are either new or known.
 */
export const separationsMax = 4;
