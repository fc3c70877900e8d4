import { dayMs } from '../../platform/time.ts';

export const spaceGraceMs = dayMs;

export const openRequestsMax = 100;

export const erasuresListed = 200;

export const requestRetryMs = 60_000;

export const progressTimeoutMs = 10_000;

export const rowsPerBatch = 5_000;
