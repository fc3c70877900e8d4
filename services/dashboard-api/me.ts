import type { Visitor } from './session.ts';
import { userProcedure } from './trpc.ts';

/** Who is signed in, as the front end shows it. */
export interface Me {
  user: { id: string; email: string };
  /** Every space of the user's, with the role there. */
  spaces: Visitor['spaces'];
  /** The space that calls without a spaceId mean; null when they must name one. */
  currentSpaceId: string | null;
}

/** `me`: the user, and the spaces that the other procedures may be asked about. */
export const me = userProcedure.query(({ ctx }) => describeVisitor(ctx.visitor));

export function describeVisitor({ userId, email, spaces }: Visitor): Me {
  const [first] = spaces;
  return {
    user: { id: userId, email },
    spaces,
    currentSpaceId: first !== undefined && spaces.length === 1 ? first.id : null,
  };
}
