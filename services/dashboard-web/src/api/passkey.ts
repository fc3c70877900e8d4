import { LocalFailure } from './failure.ts';
import { callQuery, type Input } from './query.ts';

/** The library is loaded when a passkey is used for the first time. */
const load = () => import('@simplewebauthn/browser');

/** @throws LocalFailure when there is no answer. */
export async function answerWithPasskey(): Promise<Input<'auth.signInWithPasskey'>> {
  const { request, proposal } = await callQuery('auth.askPasskey', undefined);
  const { startAuthentication } = await load();
  const { id, rawId, type, response } = await startAuthentication({ optionsJSON: request }).catch(explain);
  return { proposal, answer: { id, rawId, type, response } };
}

/** @throws LocalFailure when there is none. */
export async function createPasskey(): Promise<Omit<Input<'secondFactor.addPasskey'>, 'name'>> {
  const { creation, proposal } = await callQuery('secondFactor.proposePasskey', undefined);
  const { startRegistration } = await load();
  const { id, rawId, type, response } = await startRegistration({ optionsJSON: creation }).catch(explain);
  const { clientDataJSON, attestationObject } = response;
  return { proposal, answer: { id, rawId, type, response: { clientDataJSON, attestationObject } } };
}

function explain(error: unknown): never {
  // Browsers do not say more, so that a page cannot find out which passkeys exist.
  const isKnown = error instanceof Error && error.name === 'InvalidStateError';
  throw new LocalFailure(
    isKnown
      ? 'This device already has a passkey for your account.'
      : 'The browser did not use a passkey. Try again.',
    { cause: error },
  );
}
