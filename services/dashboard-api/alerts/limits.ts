export const windowsMinutes = [5, 10, 15, 30, 60, 120, 360, 720, 1_440] as const;

/** Longest window by an additional property: each evaluation reads all of its events. */
export const eventWindowMinutesMax = 60;

/** Windows by an additional property that one evaluation catches up, and most events of a preview. */
export const eventTicksAtOnceMax = 60;
export const previewEventsMax = 500_000;

export const holdMinutesMax = 24 * 60;

/** A window is evaluated this long after its end: by then its events are usually stored. */
export const evaluationDelayMs = 60_000;

/** The percentage by which the value must leave the bound to resolve, so that alerts do not flap. */
export const resolveMarginPercent = 10;

/** Windows that one evaluation catches up: older ones are not evaluated after an outage. */
export const ticksAtOnceMax = 1_500;
export const catchUpMsMax = 7 * 24 * 60 * 60_000;

/** A claim of a process that ended lapses after this time, above an evaluation's statement time-out. */
export const claimMs = 60_000;

/** Evaluation after which a space's rules wait this many times as long. Statistics take milliseconds. */
export const slowEvaluationMs = 500;
export const slowEvaluationRest = 4;

export const alertPollMs = 2_000;

export const rulesMax = 100;
export const targetsMax = 50;
export const targetsOfRuleMax = 10;

/** Time limit and number of deliveries, in total and of one space: its receivers may not answer. */
export const deliveryTimeoutMs = 10_000;
export const deliveriesAtOnceMax = 10;
export const deliveriesOfSpaceMax = 3;

/** Test messages of a space in a minute: each may be an e-mail to anybody, and is sent up to 20 times. */
export const testsPerMinuteMax = 10;

/** Pause before a second attempt; doubles with each. The last attempt is in about a day. */
export const retryFirstMs = 30_000;
export const retryMsMax = 2 * 60 * 60_000;
export const attemptsMax = 20;

export const historyMs = 90 * 24 * 60 * 60_000;
export const historyListed = 100;

export const historyPassMs = 60 * 60_000;

export const addressCharsMax = 2_000;
