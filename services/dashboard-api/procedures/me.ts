import { z } from 'zod';
import { isoTimes } from '../../../platform/time.ts';
import { roles } from '../../../store/accounts/role.ts';
import type { SessionUser } from '../accounts/session.ts';
import { enrolleeProcedure } from '../trpc/trpc.ts';

/** A space of the user, with the user's role in it. */
export const ownSpace = z
  .object({
    id: z.guid(),
    name: z.string(),
    role: z.enum(roles),
    /** When the space will be deleted; until then only `spaces.restore` works in it. Null for other spaces. */
    deleteAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'OwnSpace' });

/** The second factors that a user has. A code is one of the authenticator app, or a recovery code. */
export const secondFactors = z
  .object({ totp: z.boolean(), passkey: z.boolean() })
  .meta({ id: 'SecondFactors' });

/** The signed-in user as the front end shows it. */
export const shownUser = z
  .object({
    user: z.object({
      id: z.guid(),
      email: z.string(),
      hasPassword: z.boolean(),
      secondFactors,
      /** Whether the user has to add a second factor before other calls (SECOND_FACTOR_REQUIRED). */
      mustEnrol: z.boolean(),
      /** Whether the user may see the state of the installation. */
      isOperator: z.boolean(),
    }),
    /** The user's spaces, with the role in each. */
    spaces: z.array(ownSpace),
    /** The space of calls without a `spaceId`; null when `spaceId` is required. */
    currentSpaceId: z.guid().nullable(),
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof shownUser>;

/** `me`: the user, and the spaces that the other procedures accept. */
export const me = enrolleeProcedure.output(shownUser).query(({ ctx }) => describeUser(ctx.user));

export function describeUser({
  userId,
  email,
  hasPassword,
  secondFactors,
  mustEnrol,
  isOperator,
  spaces,
  currentSpaceId,
}: SessionUser): Me {
  return {
    user: { id: userId, email, hasPassword, secondFactors, mustEnrol, isOperator },
    spaces: spaces.map(isoTimes),
    currentSpaceId,
  };
}
