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

/**
 * Dimensions of a space: its additional properties, users and agents. A store statement has a value for each.
 */
export const attributeDimensionsMax = 8;
export const dimensionsMax = attributeDimensionsMax + 2;

/**
 * Values of a dimension with statistics of their own, the first ones; all others are counted together. A
 * chart of 30 days reads up to 120 rows of each, for each model.
 */
export const dimensionValuesMax = 1_000;

/** Characters of the key of an additional property. */
export const dimensionKeyCharsMax = 128;

/**
 * Characters of such a value; longer ones are counted with the others. A Postgres B-tree rejects keys over
 * 2,704 bytes.
 */
export const dimensionValueCharsMax = 128;

/**
 * Segments, and their raw bytes, whose events one transaction adds to a new dimension: some hundred
 * milliseconds.
 */
export const countedSegmentsMax = 1_000;
export const countedBytesMax = 16 * 1024 * 1024;

/** Rows of a removed dimension that one statement deletes. */
export const removedRowsMax = 10_000;
