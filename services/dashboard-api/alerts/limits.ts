/** Windows over which a rule measures, in minutes. */
export const windowsMinutes = [5, 10, 15, 30, 60, 120, 360, 720, 1_440] as const;

/** Longest window of a rule by an additional property: all events of its window are read for each evaluation. */
export const eventWindowMinutesMax = 60;

/** Windows that one evaluation of such a rule catches up at most, and most events of the space in the time of its preview. */
export const eventTicksAtOnceMax = 60;
export const previewEventsMax = 500_000;

/** Longest time for which a condition must hold. */
export const holdMinutesMax = 24 * 60;

/** A window is evaluated this long after its end: by then its events are usually stored. */
export const evaluationDelayMs = 60_000;

/** The value must leave the bound by this share before an alert resolves, so that it does not flap around the bound. */
export const resolveMargin = 0.1;

/** Windows that one evaluation catches up at most, and the time that it catches up after an outage. Older windows are not evaluated. */
export const ticksAtOnceMax = 1_500;
export const catchUpMsMax = 7 * 24 * 60 * 60_000;

/** A process that claims a rule and ends is replaced after this time. Longer than the time-out of the statements of an evaluation. */
export const claimMs = 60_000;

/**
 * After an evaluation of at least this length, the rules of its space wait this many times as long. Evaluations from statistics take
 * milliseconds.
 */
export const slowEvaluationMs = 500;
export const slowEvaluationRest = 4;

/** Interval between two looks for due rules and deliveries. */
export const alertPollMs = 2_000;

/** Rules and targets of a space. */
export const rulesMax = 100;
export const targetsMax = 50;
export const targetsOfRuleMax = 10;

/** Time limit of one delivery, deliveries sent at once, and those of one space: its receivers may not answer. */
export const deliveryTimeoutMs = 10_000;
export const deliveriesAtOnceMax = 10;
export const deliveriesOfSpaceMax = 3;

/** Test messages of a space in a minute: each may be an e-mail to anybody, and is sent up to 20 times. */
export const testsPerMinuteMax = 10;

/** Pause before the second attempt of a delivery; it doubles with each, up to the maximum. After the last attempt, in about a day, it is given up. */
export const retryFirstMs = 30_000;
export const retryMsMax = 2 * 60 * 60_000;
export const attemptsMax = 20;

/** How long the history is kept, and how many of its rows are listed. */
export const historyMs = 90 * 24 * 60 * 60_000;
export const historyListed = 100;

/** Interval between two deletions of old history. */
export const historyPassMs = 60 * 60_000;

/** Length of a webhook's address. */
export const addressCharsMax = 2_000;
