/** Longest retention, in days: a hundred years. */
export const retentionDaysMax = 36_500;
