import type { RequestFacts } from './request.ts';
import type { Sessions, Visitor } from './session.ts';
import type { SignIn } from './sign-in.ts';
import type { SpaceDoor } from './space-door.ts';

/** What the process gives to every call. Postgres itself is not among it: a space's data is behind its door. */
export interface Services {
  sessions: Sessions;
  signIn: SignIn;
  openDoor: (spaceId: string) => SpaceDoor;
}

/** What one HTTP request gives to its calls. */
export interface Context extends Services {
  request: RequestFacts;
  /** Who is signed in; asked once, however many calls the request carries. */
  findVisitor: () => Promise<Visitor | undefined>;
}

export function openContext(services: Services, request: RequestFacts): Context {
  let visitor: Promise<Visitor | undefined> | undefined;
  return {
    ...services,
    request,
    findVisitor: () => {
      visitor ??=
        request.token === undefined ? Promise.resolve(undefined) : services.sessions.find(request.token);
      return visitor;
    },
  };
}
