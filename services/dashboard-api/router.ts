import { auth } from './procedures/auth.ts';
import { charts } from './procedures/charts.ts';
import { events } from './procedures/events.ts';
import { live } from './procedures/live.ts';
import { me } from './procedures/me.ts';
import { notes } from './procedures/notes.ts';
import { prices } from './procedures/prices.ts';
import { senders } from './procedures/senders.ts';
import { alerts } from './procedures/settings/alerts.ts';
import { apiKeys } from './procedures/settings/api-keys.ts';
import { audit } from './procedures/settings/audit.ts';
import { erasures } from './procedures/settings/erasures.ts';
import { invitations } from './procedures/settings/invitations.ts';
import { members } from './procedures/settings/members.ts';
import { operator } from './procedures/settings/operator.ts';
import { quarantine } from './procedures/settings/quarantine.ts';
import { secondFactor } from './procedures/settings/second-factor.ts';
import { sessions } from './procedures/settings/sessions.ts';
import { spaces } from './procedures/settings/spaces.ts';
import { threads, traces, users } from './procedures/traces.ts';
import { usage } from './procedures/usage.ts';
import { views } from './procedures/views.ts';
import { router } from './trpc/trpc.ts';

export const appRouter = router({
  auth,
  me,
  secondFactor,
  sessions,
  spaces,
  members,
  invitations,
  apiKeys,
  events,
  live,
  traces,
  threads,
  users,
  notes,
  views,
  charts,
  prices,
  usage,
  senders,
  audit,
  quarantine,
  erasures,
  alerts,
  operator,
});

/** Front ends import only this type. */
export type AppRouter = typeof appRouter;
