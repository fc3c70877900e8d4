import { z } from 'zod';
import { messageOf } from '../../platform/thrown.ts';
export const findingShape = z
  .object({
    /** What was checked, such as `postgres.durability`. */
    check: z.string(),
    /** `warning`: works now, but not for long, or not as promised. `skipped`: it could not be checked. */
    status: z.enum(['ok', 'warning', 'failed', 'skipped']),
    found: z.string(),
    /** What to do, unless the status is `ok`. */
    action: z.string().optional(),
  })
  .meta({ id: 'Finding' });
export type Finding = z.infer<typeof findingShape>;

/** A finding whose check is named by the caller. */
export type Verdict = Omit<Finding, 'check'>;

export const ok = (found: string): Verdict => ({ status: 'ok', found });
export const failed = verdictOf('failed');
export const warning = verdictOf('warning');
export const skipped = verdictOf('skipped');

function verdictOf(status: Exclude<Finding['status'], 'ok'>) {
  return (found: string, action: string): Verdict => ({ status, found, action });
}

/** @param verdicts by the names of their checks; undefined for a check that does not apply. */
export function findingsOf(verdicts: Readonly<Record<string, Verdict | undefined>>): Finding[] {
  return Object.entries(verdicts).flatMap(([check, verdict]) => (verdict ? { check, ...verdict } : []));
}

/** Names what `run` returns. An error that it throws is a failure with this action. */
export async function finding(
  check: string,
  action: string,
  run: () => Promise<Verdict | Finding[] | undefined>,
): Promise<Finding[]> {
  try {
    const result = await run();
    return Array.isArray(result) ? result : findingsOf({ [check]: result });
  } catch (error) {
    return findingsOf({ [check]: failed(messageOf(error), action) });
  }
}
