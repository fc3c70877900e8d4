import type { Sql } from '../../lib/db/connect.ts';
import { openGate } from '../../lib/gate.ts';
import { eventsOpenedAtOnceMax } from '../../lib/limits.ts';
import type { Services } from './context.ts';
import { openSessions } from './session.ts';
import { openSignIn } from './sign-in.ts';
import { openSpaceDoor } from './space-door.ts';

/** Everything that calls use, over one pool. Postgres need not answer yet. */
export async function openServices(sql: Sql): Promise<Services> {
  const sessions = openSessions(sql);
  const store = { sql, openingGate: openGate(eventsOpenedAtOnceMax) };
  return {
    sessions,
    signIn: await openSignIn({ sql, sessions, now: () => performance.now() }),
    openDoor: (spaceId) => openSpaceDoor(store, spaceId),
  };
}
