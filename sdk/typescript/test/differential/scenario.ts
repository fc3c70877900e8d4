import { expect } from 'vitest';
import { Weir } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import type { Provider } from '../support/provider.ts';
import type { WeirStub } from '../support/weir-stub.ts';
import { type Observation, summarize } from './observe.ts';

/** A use of a client: it is run with a bare and with an observed one, and both must see the same. */
export interface Scenario<C> {
  name: string;
  run(client: C, provider: ProviderView): Promise<Observation>;
  /** The events that the observed run records, in any order. */
  events: Partial<ReturnType<typeof summarize>>[];
  /** True where a time-out decides whether the provider sees a request. */
  isRace?: boolean;
  /** False where a version of the client does not have what is used. */
  isPossible?(client: C): boolean;
}

/** What a scenario may wait for. */
export interface ProviderView {
  /** The next request has arrived. */
  nextRequest(): Promise<void>;
}

export interface Harness<C> {
  provider: Provider;
  stub: WeirStub;
  /** A client without and with observation. */
  createBare(): C;
  createObserved(weir: Weir): C;
}

/** Runs a scenario both ways, and compares what the application sees and what Weir receives. */
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
  expect(summaries).toHaveLength(scenario.events.length);
  for (const event of scenario.events) expect(summaries).toContainEqual(expect.objectContaining(event));
  return 'run';
}

/** The requests since the scenario began. Sorted: those of calls at the same time come in any order. */
function takeRequests(provider: Provider, from: number) {
  const requests = provider.requests.splice(from).map(comparable);
  return requests.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** What the provider sees of a request. */
function comparable({ path, text, headers }: Provider['requests'][number]) {
  const { host, ...others } = headers;
  // Chosen at random for each call by some versions.
  delete others['idempotency-key'];
  return { path, text, headers: others };
}
