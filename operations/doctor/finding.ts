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

export const ok = (check: string, found: string): Finding => ({ check, status: 'ok', found });
export const failed = findingOf('failed');
export const warning = findingOf('warning');
export const skipped = findingOf('skipped');

function findingOf(status: Exclude<Finding['status'], 'ok'>) {
  return (check: string, found: string, action: string): Finding => ({ check, status, found, action });
}

/** An error that `run` throws is a failure with this action. */
export async function finding(
  check: string,
  action: string,
  run: () => Promise<Finding | Finding[]>,
): Promise<Finding[]> {
  try {
    return [await run()].flat();
  } catch (error) {
    return [failed(check, messageOf(error), action)];
  }
}
