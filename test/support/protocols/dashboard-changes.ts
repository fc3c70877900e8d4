import { randomUUID } from 'node:crypto';
import { createSignInLink } from '../../../store/accounts/sign-in-links.ts';
import { openClient, type TestDashboard, type TestSpace } from '../dashboard.ts';
import type { Change } from './change.ts';
import { secondFactorChangesOf } from './second-factor/second-factor-changes.ts';

const newPassword = 'a new password';

/**
 * Successful calls of every mutation of the router, by path. Each function sets up what its call needs, in a
 * space whose owner calls.
 */
export function changesOf(dashboard: TestDashboard, space: TestSpace): Record<string, () => Promise<Change>> {
  const { trpc } = space.client;
  const { spaceId } = space;
  const cookie = space.client.cookie;
  const own = (input: object) => ({ input: { spaceId, ...input }, cookie });
  const stranger = (input: unknown) => ({ input, cookie: undefined });
  const invite = (email = `${randomUUID()}@example.org`) =>
    trpc.invitations.create.mutate({ spaceId, email, role: 'viewer' });
  const createKey = () => trpc.apiKeys.create.mutate({ spaceId, name: 'k' });
  const price = { model: 'm', validFrom: '2026-01-01', input: '1', output: '2' };
  const addMember = async () => (await dashboard.addMember(space, 'viewer')).userId;
  const noteId = randomUUID();
  const addNote = async () => {
    const { ids } = await trpc.notes.add.mutate({ spaceId, notes: [{ traceId: randomUUID(), label: 'a' }] });
    return ids[0] ?? '';
  };
  const view = { list: 'events', name: 'v', address: '?state=error' } as const;
  const saveAlert = () => trpc.alerts.save.mutate({ spaceId, name: 'a', kind: 'events' });
  // The reserved name resolves to nothing.
  const target = { name: 't', kind: 'webhook', address: 'https://alerts.invalid/' } as const;
  const createTarget = async () => ({
    id: (await trpc.alerts.createTarget.mutate({ spaceId, ...target })).id,
  });
  const readName = async () => (await trpc.spaces.get.query({ spaceId })).name;
  const signInAgain = async () => {
    const { trpc: other } = openClient(dashboard.url);
    await other.auth.signIn.mutate(space);
    return (await other.sessions.list.query()).find(({ isCurrent }) => isCurrent)?.id ?? '';
  };
  return {
    'alerts.save': async () => own({ name: 'a', kind: 'events', bound: 1 }),
    'alerts.remove': async () => own(await saveAlert()),
    'alerts.mute': async () => own({ ...(await saveAlert()), until: '2030-01-01T00:00:00.000Z' }),
    'alerts.createTarget': async () => own(target),
    'alerts.removeTarget': async () => own(await createTarget()),
    'alerts.testTarget': async () => own(await createTarget()),
    'apiKeys.create': async () => own({ name: 'k' }),
    'apiKeys.revoke': async () => own({ keyId: (await createKey()).keyId }),
    'apiKeys.roll': async () => own({ keyId: (await createKey()).keyId }),
    'auth.changePassword': async () => own({ currentPassword: space.password, newPassword }),
    'auth.confirm': async () => own({ password: space.password }),
    ...secondFactorChangesOf(dashboard, space),
    'auth.redeemLink': async () => {
      const link = await createSignInLink(dashboard.database, await addMember(), 'http://x');
      return stranger({ token: link.split('link=')[1] ?? '' });
    },
    'auth.signIn': async () => stranger({ email: space.email, password: space.password }),
    'auth.signOut': async () => ({
      input: undefined,
      cookie: (await dashboard.addSpace()).client.cookie,
    }),
    'erasures.request': async () => own({ kind: 'user', value: 'gone', reason: 'asked to' }),
    'invitations.accept': async () => stranger({ token: (await invite()).token, password: newPassword }),
    'invitations.create': async () => own({ email: `${randomUUID()}@example.org`, role: 'viewer' }),
    'invitations.look': async () => stranger({ token: (await invite()).token }),
    'invitations.revoke': async () => own({ id: (await invite()).id }),
    'members.endSessions': async () => own({ userId: await addMember() }),
    'members.remove': async () => own({ userId: await addMember() }),
    'members.setRole': async () => own({ userId: await addMember(), role: 'admin' }),
    'notes.add': async () => own({ notes: [{ id: noteId, eventId: randomUUID(), label: 'thumbs-up' }] }),
    'notes.change': async () => own({ id: await addNote(), text: 'changed' }),
    'notes.remove': async () => own({ id: await addNote() }),
    'prices.set': async () => own(price),
    'prices.remove': async () => {
      await trpc.prices.set.mutate({ spaceId, ...price, model: 'removed' });
      return own({ ...price, model: 'removed' });
    },
    'quarantine.replay': async () => own({ ids: [await addQuarantined(dashboard, spaceId)] }),
    'sessions.revoke': async () => own({ id: await signInAgain() }),
    'sessions.revokeOthers': async () => {
      await signInAgain();
      return { input: undefined, cookie };
    },
    'spaces.create': async () => own({ name: 'another' }),
    'spaces.delete': async () => own({ name: await readName() }),
    'spaces.restore': async () => {
      await trpc.spaces.delete.mutate({ spaceId, name: await readName() });
      return own({});
    },
    'spaces.rename': async () => own({ name: 'renamed' }),
    'spaces.setDimensions': async () => own({ dimensions: ['user', 'attr.environment'] }),
    'spaces.setRetention': async () => own({ retentionDays: 30 }),
    'spaces.switch': async () => own({}),
    'views.remove': async () => own(await trpc.views.save.mutate({ spaceId, ...view })),
    'views.rename': async () => own({ ...(await trpc.views.save.mutate({ spaceId, ...view })), name: 'w' }),
    'views.save': async () => own({ ...view, isOfSpace: true }),
  };
}

/** Adds an undecodable quarantine entry, whose replay fails. @returns its id. */
async function addQuarantined(dashboard: TestDashboard, spaceId: string): Promise<string> {
  const [row] = await dashboard.sql`
    INSERT INTO quarantine (space_id, received_at, event_count, sqlstate, message, part)
    VALUES (${spaceId}, now(), 1, '23514', 'refused', '\\x00'::bytea) RETURNING id`;
  return row?.id;
}
