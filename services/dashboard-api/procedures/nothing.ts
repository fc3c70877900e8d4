import { z } from 'zod';

/** The output of a change that returns nothing. */
export const nothing = z.void();
