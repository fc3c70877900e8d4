import { eventsOpenedAtOnceMax } from '../../lib/limits.ts';
import type { Services } from './context.ts';
import { openGate } from './gate.ts';
import { openSessions } from './session.ts';
import { openSignIn } from './sign-in.ts';
import { openSpaceDoor, type Store } from './space-door.ts';

/** Everything that calls use, over one database. Postgres need not answer yet. */
export async function openServices(pools: Omit<Store, 'openingGate'>): Promise<Services> {
  const sessions = openSessions(pools.sql);
  const store = { ...pools, openingGate: openGate(eventsOpenedAtOnceMax) };
  return {
    sessions,
    signIn: await openSignIn({ sql: pools.sql, sessions, now: () => performance.now() }),
    openDoor: (spaceId) => openSpaceDoor(store, spaceId),
  };
}
