/** How long an operator's session is let in while Postgres does not answer. */
export const operatorMemoryMs = 10 * 60_000;

/** The wait for Postgres before that: the page asks again every few seconds. */
export const operatorLookupMs = 2_000;

/** Sessions: an installation has a few operators. */
export const rememberedOperatorsMax = 100;

/** How long figures are reused: by several operators, and by several windows of one. */
export const figuresReuseMs = 4_000;

/** The page's reads must not delay those of spaces. */
export const installationConnectionsMax = 2;

export const listedMax = 50;

export const expiringDays = 7;
