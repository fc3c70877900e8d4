import { auth } from './auth.ts';
import { events } from './events.ts';
import { me } from './me.ts';
import { router } from './trpc.ts';
import { usage } from './usage.ts';

/** Everything that the dashboard can be asked. */
export const appRouter = router({ auth, me, events, usage });

/** What clients are typed by. Front ends import this type, and nothing else of the service. */
export type AppRouter = typeof appRouter;
