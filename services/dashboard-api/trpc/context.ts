import type { Actor } from '../../../lib/accounts/audit/audit.ts';
import type { Caller } from '../../../lib/fair-limiter.ts';
import type { FindAddress } from '../accounts/client-address.ts';
import type { Invitations } from '../accounts/invitations.ts';
import type { RedeemLink } from '../accounts/link-redemption.ts';
import type { ChangePassword } from '../accounts/password-change.ts';
import type { RateLimiter } from '../accounts/rate-limiter.ts';
import type { Sessions, SessionUser } from '../accounts/session.ts';
import type { SessionList } from '../accounts/session-list.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import type { SpaceAdmin } from '../admin/space-admin.ts';
import type { OpenStreams } from '../live/open-streams.ts';
import type { SpaceStore } from '../spaces/space-store.ts';
import type { RequestFacts } from './request.ts';

/** What every call can use. Not Postgres itself: the data of a space is reached through its SpaceStore only. */
export interface Services {
  sessions: Sessions;
  signIn: SignIn;
  sessionList: SessionList;
  changePassword: ChangePassword;
  redeemLink: RedeemLink;
  invitations: Invitations;
  /** Whether people sign in and choose passwords here; not with SSO_REQUIRED. */
  arePasswordsAllowed: boolean;
  /** What people call the OpenID provider; undefined when there is none. */
  ssoName: string | undefined;
  /** The network address of the client that sent a request. */
  findAddress: FindAddress;
  /** Attempts with tokens of links, by network address. */
  tokenAttempts: RateLimiter;
  /** Opens a space's data for a user. Their statements wait for their turn (lib/fair-limiter.ts). */
  openSpace: (caller: Caller) => SpaceStore;
  /** The responses that are live streams. */
  openStreams: OpenStreams;
  /** Events were stored in the space: its live streams read them now. */
  wakeStreams: (spaceId: string) => void;
  openSpaceAdmin: (spaceId: string, actor: Actor) => SpaceAdmin;
  /** Creates a space whose owner is the actor. @returns its id. */
  createSpace: (name: string, owner: Actor) => Promise<string>;
}

/** What the calls of one HTTP request can use. */
export interface Context extends Services {
  request: RequestFacts;
  /** The user who is signed in. Looked up once for all calls of the request. */
  findUser: () => Promise<SessionUser | undefined>;
}

export function openContext(services: Services, request: RequestFacts): Context {
  let user: Promise<SessionUser | undefined> | undefined;
  return {
    ...services,
    request,
    findUser: () => {
      user ??= findUser(services, request);
      return user;
    },
  };
}

async function findUser(
  { sessions }: Services,
  { token, sender }: RequestFacts,
): Promise<SessionUser | undefined> {
  const user = token === undefined ? undefined : await sessions.find(token);
  sender.userId = user?.userId;
  return user;
}
