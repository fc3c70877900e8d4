import { expect } from 'vitest';
import { Weir } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import type { Provider } from '../support/provider.ts';
import type { WeirStub } from '../support/weir-stub.ts';
import { type Observation, summarize } from './observe.ts';

/** A use of a client. It runs with a bare and with an observed client, and both must have the same result. */
export interface Scenario<C> {
  name: string;
  run(client: C, provider: ProviderView): Promise<Observation>;
  /** The events that the observed run records, in any order. */
  events: Partial<ReturnType<typeof summarize>>[];
  /** True when a time-out decides whether the provider receives a request. */
  isRace?: boolean;
  /** Returns false when the version of the client lacks a method of the scenario. */
  isPossible?(client: C): boolean;
}

/** Events of the provider that a scenario may wait for. */
export interface ProviderView {
  /** Resolves when the next request arrives. */
  nextRequest(): Promise<void>;
}

export interface Harness<C> {
  provider: Provider;
  stub: WeirStub;
  /** Creates a client, without and with observation. */
  createBare(): C;
  createObserved(weir: Weir): C;
}

/**
 * Runs a scenario with both clients, and compares the results, the requests to the provider and the recorded
 * events.
 */
export async function runScenario<C>(
  scenario: Scenario<C>,
  harness: Harness<C>,
): Promise<'run' | 'impossible'> {
  const { provider, stub } = harness;
  const bareClient = harness.createBare();
  if (scenario.isPossible?.(bareClient) === false) return 'impossible';
  const before = provider.requests.length;
  const view: ProviderView = {
    nextRequest: () => eventually(() => expect(provider.requests.length).toBeGreaterThan(before)),
  };
  const bare = await scenario.run(bareClient, view);
  const sentBare = takeRequests(provider, before);
  stub.accepted.clear();
  const weir = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false });
  const observed = await scenario.run(harness.createObserved(weir), view);
  const sentObserved = takeRequests(provider, before);
  expect(observed).toEqual(bare);
  if (!scenario.isRace) expect(sentObserved).toEqual(sentBare);
  const result = await weir.shutdown();
  expect(result.dropped).toBe(0);
  const summaries = stub.events.map(summarize);
  expect(summaries.length, JSON.stringify(stub.events, null, 1)).toBe(scenario.events.length);
  for (const event of scenario.events) expect(summaries).toContainEqual(expect.objectContaining(event));
  return 'run';
}

/** The requests since the start of the scenario, sorted because simultaneous calls arrive in any order. */
function takeRequests(provider: Provider, from: number) {
  const requests = provider.requests.splice(from).map(comparable);
  return requests.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The comparable parts of a request. */
function comparable({ path, text, headers }: Provider['requests'][number]) {
  const { host, ...others } = headers;
  // Some versions create a random one for each call.
  delete others['idempotency-key'];
  return { path, text, headers: others };
}
