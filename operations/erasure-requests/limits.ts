import { dayMs } from '../../platform/time.ts';

/** How long the deletion of a space can be taken back. */
export const spaceGraceMs = dayMs;

/** Open requests of a space in the dashboard. */
export const openRequestsMax = 100;

/** Completed erasures in a list. */
export const erasuresListed = 200;

/** Pause before a requested erasure that failed is tried again. */
export const requestRetryMs = 60_000;

/** Statement time-out for the state of requests. Each statement takes a millisecond. */
export const progressTimeoutMs = 10_000;

/** Rows of other tables that one transaction of the deletion of a space deletes. */
export const rowsPerBatch = 5_000;
