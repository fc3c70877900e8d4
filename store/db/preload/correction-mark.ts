/** A property of `globalThis` that the corrected driver sets when it is loaded. */
export const correctionMark = 'weir.postgres.corrected';
