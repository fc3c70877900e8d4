import type { SessionUser } from '../accounts/session.ts';
import { userProcedure } from '../trpc/trpc.ts';

/** The signed-in user, as the front end shows it. */
export interface Me {
  user: { id: string; email: string; hasPassword: boolean };
  /** The user's spaces, with the role in each. */
  spaces: SessionUser['spaces'];
  /** The space of calls without a `spaceId`; null when they must name one. */
  currentSpaceId: string | null;
}

/** `me`: the user, and the spaces that the other procedures accept. */
export const me = userProcedure.query(({ ctx }) => describeUser(ctx.user));

export function describeUser({ userId, email, hasPassword, spaces, currentSpaceId }: SessionUser): Me {
  return {
    user: { id: userId, email, hasPassword },
    spaces,
    currentSpaceId,
  };
}
