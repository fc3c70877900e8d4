import { z } from 'zod';
import { parsePriceClass } from '../../../event/usage/price-class.ts';
import type { events } from '../../../store/db/schema.ts';

/** Difference between a duration and end minus start that is not flagged: clients round to milliseconds. */
const durationToleranceMs = 1;

/** How long after its receipt an event may end without being flagged. Synchronised clocks differ by less. */
const clockToleranceMs = 2_000;

/**
 * An inconsistency in an event. The contract has no rule between these values (docs/api.md §2.8), so it is
 * shown, not rejected.
 *
 * - `ends_before_start`: the end is before the start.
 * - `duration_mismatch`: the duration differs from end minus start.
 * - `clock_ahead`: the event ended after it was received, so the client's clock is ahead of ingest's. A clock
 *   that is behind cannot be distinguished from an event that was sent late.
 * - `token_sum_mismatch`: input and output tokens do not add up to the total.
 * - `contradictory_usage`: a count is negative, or the parts of a count are more than the count.
 * - `cost_mismatch`: the cost that the sender reported is more than 1 % from that at the price.
 */
export const eventFlag = z.enum([
  'ends_before_start',
  'duration_mismatch',
  'clock_ahead',
  'token_sum_mismatch',
  'contradictory_usage',
  'cost_mismatch',
]);
export type EventFlag = z.infer<typeof eventFlag>;

type Tokens = Pick<typeof events.$inferSelect, 'inputTokens' | 'outputTokens' | 'totalTokens'>;
type Times = Pick<typeof events.$inferSelect, 'startTimeMs' | 'endTimeMs' | 'durationMs' | 'receivedAt'>;

/** @param isCostOff whether the reported cost differs from the price. */
export function flagEvent(
  event: Times & Tokens & { priceClass: string | null },
  isCostOff: boolean,
): EventFlag[] {
  const spanMs = event.endTimeMs - event.startTimeMs;
  const flags: EventFlag[] = [];
  if (spanMs < 0) flags.push('ends_before_start');
  if (Math.abs(spanMs - event.durationMs) > durationToleranceMs) flags.push('duration_mismatch');
  if (Math.max(event.startTimeMs, event.endTimeMs) - event.receivedAt.getTime() > clockToleranceMs) {
    flags.push('clock_ahead');
  }
  if (!tokensAddUp(event)) flags.push('token_sum_mismatch');
  if (parsePriceClass(event.priceClass ?? '').isContradictory) flags.push('contradictory_usage');
  if (isCostOff) flags.push('cost_mismatch');
  return flags;
}

function tokensAddUp({ inputTokens, outputTokens, totalTokens }: Tokens): boolean {
  if (inputTokens === null || outputTokens === null || totalTokens === null) return true;
  return inputTokens + outputTokens === totalTokens;
}
