/** How long a session that Postgres confirmed as an operator's is let in while Postgres does not answer. */
export const operatorMemoryMs = 10 * 60_000;

/** How long to wait for Postgres before that: the page asks again every few seconds. */
export const operatorLookupMs = 2_000;

/** Sessions of operators that are remembered. An installation has a few. */
export const rememberedOperatorsMax = 100;

/** How long figures are reused: by several operators, and by several windows of one. */
export const figuresReuseMs = 4_000;

/** Most connections that the page uses: its reads must not delay those of spaces. */
export const installationConnectionsMax = 2;

/** Most policies of retention and reasons of quarantine that are listed. */
export const listedMax = 50;

/** Days ahead for which expiring events are counted. */
export const expiringDays = 7;
