import { codeOf, unreachableCodes } from '../../../platform/thrown.ts';

/**
 * SQLSTATE class of a server's own connections: the coordinator of a Citus cluster does not reach a worker.
 */
const connectionState = /^08[0-9A-Z]+$/;
const queryCanceled = '57014';

export function isUnreachableNode(error: unknown): boolean {
  return connectionState.test(codeOf(error) ?? '');
}

/**
 * For what is on the node of a space, beside what is on the coordinator. A node that hangs is felt as a
 * statement that takes too long, or as a coordinator that does not answer; when that is away, what is on it
 * fails, too.
 * @throws other errors.
 */
export function nullIfNodeFailed(error: unknown): null {
  const code = codeOf(error);
  if (isUnreachableNode(error) || code === queryCanceled || unreachableCodes.has(code)) return null;
  throw error;
}
