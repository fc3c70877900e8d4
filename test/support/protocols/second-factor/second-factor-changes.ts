import { TOTP } from 'otpauth';
import {
  dashboardPublicUrl,
  openClient,
  type TestClient,
  type TestDashboard,
  type TestSpace,
} from '../../dashboard.ts';
import type { Change } from '../change.ts';
import { Authenticator } from './authenticator.ts';

/** A user's authenticator app. */
export interface TestApp {
  /** The code with which it was added. */
  readonly firstCode: string;
  /** The code of a time, by default now. */
  code(atMs?: number): string;
}

/** Adds an authenticator app to the client's user. */
export async function addApp({ trpc }: Pick<TestClient, 'trpc'>): Promise<TestApp> {
  const { app, input } = await proposeApp({ trpc });
  await trpc.secondFactor.addTotp.mutate(input);
  return app;
}

async function proposeApp({ trpc }: Pick<TestClient, 'trpc'>) {
  const { secret, proposal } = await trpc.secondFactor.proposeTotp.query();
  const code = (atMs = Date.now()) => new TOTP({ secret }).generate({ timestamp: atMs });
  const firstCode = code();
  return { app: { firstCode, code }, input: { proposal, code: firstCode } };
}

/** Adds a passkey to the client's user. */
export async function addPasskey(
  { trpc }: Pick<TestClient, 'trpc'>,
  name = 'laptop',
): Promise<Authenticator> {
  const { authenticator, input } = await proposePasskey({ trpc }, name);
  await trpc.secondFactor.addPasskey.mutate(input);
  return authenticator;
}

async function proposePasskey({ trpc }: Pick<TestClient, 'trpc'>, name: string) {
  const authenticator = new Authenticator(dashboardPublicUrl);
  const { creation, proposal } = await trpc.secondFactor.proposePasskey.query();
  return { authenticator, input: { proposal, name, answer: authenticator.create(creation) } };
}

/** The answer of a passkey to a new question. */
export async function answerPasskey({ trpc }: Pick<TestClient, 'trpc'>, authenticator: Authenticator) {
  const { request, proposal } = await trpc.auth.askPasskey.query();
  return { proposal, answer: authenticator.get(request) };
}

/** Successful calls of the mutations around the second factor; see changesOf. */
export function secondFactorChangesOf(
  dashboard: TestDashboard,
  space: TestSpace,
): Record<string, () => Promise<Change>> {
  const { client } = space;
  const { trpc } = client;
  const own = (input: unknown) => ({ input, cookie: client.cookie });
  /** A change of a user who needs a code to confirm. */
  const enrolled = async (input: unknown) => {
    const { codes } = await trpc.secondFactor.renewRecoveryCodes.mutate();
    return { ...own(input), code: () => codes.pop() ?? '' };
  };
  return {
    'auth.confirmWithPasskey': async () => own(await answerPasskey(client, await addPasskey(client))),
    'auth.giveCode': async () => {
      await addApp(client);
      const { codes } = await trpc.secondFactor.renewRecoveryCodes.mutate();
      const stranger = openClient(dashboard.url);
      await stranger.trpc.auth.signIn.mutate(space);
      return { input: { code: codes[0] }, cookie: stranger.cookie };
    },
    'auth.signInWithPasskey': async () => ({
      input: await answerPasskey(client, await addPasskey(client)),
      cookie: undefined,
    }),
    'secondFactor.addPasskey': async () => own((await proposePasskey(client, 'laptop')).input),
    'secondFactor.addTotp': async () => own((await proposeApp(client)).input),
    'secondFactor.removePasskey': async () => {
      await addPasskey(client);
      const { passkeys } = await trpc.secondFactor.list.query();
      return enrolled({ id: passkeys[0]?.id });
    },
    'secondFactor.removeTotp': async () => {
      await addApp(client);
      return enrolled(undefined);
    },
    'secondFactor.renewRecoveryCodes': async () => {
      await addApp(client);
      return enrolled(undefined);
    },
  };
}
