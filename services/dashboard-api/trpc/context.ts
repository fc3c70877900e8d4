import type { Caller } from '../../../platform/fair-limiter.ts';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import { requireAnnotator, requireCaller, type Caller as SpaceCaller } from '../access.ts';
import type { FindAddress } from '../accounts/client-address.ts';
import type { Invitations } from '../accounts/invitations.ts';
import type { ChangePassword } from '../accounts/password-change.ts';
import type { RateLimiter } from '../accounts/rate-limiter.ts';
import type { AnnotationKeyUser, ReadKeys } from '../accounts/read-keys.ts';
import type { SecondStep } from '../accounts/second-step.ts';
import type { Sessions, SessionUser } from '../accounts/session.ts';
import type { SessionList } from '../accounts/session-list.ts';
import type { RedeemLink, SignIn } from '../accounts/sign-in.ts';
import type { Installation, Operators } from '../installation/installation.ts';
import type { OpenStreams } from '../live/open-streams.ts';
import type { Seal } from '../seal.ts';
import type { SecondFactor } from '../second-factor/open-second-factor.ts';
import type { PasskeySite } from '../second-factor/passkey-site.ts';
import type { SpaceAdmin, SpaceData } from '../space-data.ts';
import type { CallRequest } from './request.ts';

/** Exclude direct access to Postgres: a space's data is only reached through its SpaceData. */
export interface Services {
  sessions: Sessions;
  /** Waits until the control stream has the call's changes (ADR 32), at most two seconds. Never rejects. */
  relayChanges: () => Promise<void>;
  readKeys: ReadKeys;
  signIn: SignIn;
  sessionList: SessionList;
  changePassword: ChangePassword;
  redeemLink: RedeemLink;
  secondStep: SecondStep;
  secondFactor: SecondFactor;
  /** The site of the dashboard's passkeys by the Host header; undefined when there can be none. */
  findPasskeySite: (host: string | undefined) => PasskeySite | undefined;
  filterSeal: Seal;
  invitations: Invitations;
  /** Whether passwords can be used and set; false with SSO_REQUIRED. */
  arePasswordsAllowed: boolean;
  /** The display name of the OpenID provider; undefined when there is none. */
  ssoName: string | undefined;
  findAddress: FindAddress;
  /** Counts attempts with tokens of links by network address. */
  tokenAttempts: RateLimiter;
  /** Statements are queued fairly between users (platform/fair-limiter.ts). */
  openSpace: (caller: Caller) => SpaceData;
  /** Calls that add notes, by space. */
  noteCalls: RateLimiter;
  openStreams: OpenStreams;
  /** Makes the live streams of a space read events that were just stored. */
  wakeStreams: (spaceId: string) => void;
  openSpaceAdmin: (spaceId: string, actor: Actor) => SpaceAdmin;
  operators: Operators;
  /** The state of the installation, for its operators only. */
  installation: Installation;
  /** The actor is the owner. @returns the id; undefined when the actor owns too many. */
  createSpace: (name: string, owner: Actor) => Promise<string | undefined>;
}

export interface Context extends Services {
  request: CallRequest;
  /** Finds the signed-in user. Looked up once for all calls of the request. */
  findUser: () => Promise<SessionUser | undefined>;
  /** Looks the read key up once for the request. @throws TRPCError UNAUTHORIZED when the key is not valid. */
  findReadKey: () => Promise<SpaceCaller>;
  /** Finds the key of a request that adds notes. @throws as requireAnnotator */
  findAnnotator: (key: string) => Promise<AnnotationKeyUser>;
}

export function openContext(services: Services, request: CallRequest): Context {
  let user: Promise<SessionUser | undefined> | undefined;
  let key: Promise<SpaceCaller> | undefined;
  return {
    ...services,
    request,
    findUser: () => {
      user ??= findUser(services, request);
      return user;
    },
    findReadKey: () => {
      key ??= requireCaller(services, request).then((found) => {
        noteCaller(request.sender, found);
        return found;
      });
      return key;
    },
    findAnnotator: async (readKey) => {
      const found = await requireAnnotator(services, readKey);
      noteCaller(request.sender, found);
      return found;
    },
  };
}

export function noteCaller(sender: CallRequest['sender'], caller: SpaceCaller | AnnotationKeyUser): void {
  if ('scope' in caller) sender.keyId = caller.userId;
  else sender.userId = caller.userId;
}

async function findUser(
  { sessions }: Services,
  { token, sender }: CallRequest,
): Promise<SessionUser | undefined> {
  const user = token === undefined ? undefined : await sessions.find(token);
  sender.userId = user?.userId;
  return user;
}
