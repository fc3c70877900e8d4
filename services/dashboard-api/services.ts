import type { Services } from './context.ts';
import { openSessions } from './session.ts';
import { openSignIn } from './sign-in.ts';
import { openSpaceDoor, type Store } from './space-door.ts';

/** Everything that calls use, over one store. Postgres need not answer yet. */
export async function openServices(store: Store): Promise<Services> {
  const sessions = openSessions(store.sql);
  return {
    sessions,
    signIn: await openSignIn({ sql: store.sql, sessions, now: () => performance.now() }),
    openDoor: (spaceId) => openSpaceDoor(store, spaceId),
  };
}
