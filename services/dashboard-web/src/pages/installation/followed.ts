import { polled } from '../../api/failure.ts';

const reloadMs = 5_000;

/** A failure is shown at once: the next reading follows anyway. */
export const followed = { ...polled(reloadMs), retry: false } as const;
