import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { changeSpace } from '../../../store/accounts/spaces.ts';
import { users } from '../../../store/db/schema.ts';
import { recordSenders } from '../../../store/senders.ts';
import type { DemoEvent } from './demo-events.ts';
import { sendRefusedEvents } from './refused-events.ts';
import type { BrowserSystem, SpaceVisitor } from './use-browser.ts';

/**
 * Fills a visitor's space so that every page has content: the sample events, prices of some models, a limit
 * that will be reached, invitations, and events in quarantine.
 */
export async function furnishSpace(
  system: BrowserSystem,
  visitor: SpaceVisitor,
  events: DemoEvent[],
): Promise<void> {
  const { spaceId, page, email } = visitor;
  await nameSpace(visitor);
  await makeOperator(system, email);
  await changeSpace(system.pipeline.database, spaceId, { plan: 'Team', monthlyEventLimit: 240 });
  const from = { validFrom: '2026-01-01', cacheWrite: null };
  const prices = [
    { model: 'gpt-4o', input: '2.50', output: '10.00', cacheRead: '1.25', cacheWrite: null },
    { ...from, model: 'gpt-4o', input: '2.00', output: '8.00', cacheRead: '1.00' },
    { ...from, model: 'gpt-4o-mini', input: '0.15', output: '0.60', cacheRead: '0.075' },
  ];
  for (const price of prices) await mutate(visitor, 'prices.set', { spaceId, ...price });
  await mutate(visitor, 'invitations.create', { spaceId, email: 'lena@spoke.example', role: 'viewer' });
  await mutate(visitor, 'invitations.create', { spaceId, email: 'omar@spoke.example', role: 'admin' });
  const target = { name: 'On call', kind: 'webhook', address: 'https://alerts.spoke.invalid/weir' };
  await mutate(visitor, 'alerts.createTarget', { spaceId, ...target });
  await sendRefusedEvents(system, visitor, 2);
  await recordSenders(system.pipeline.database, spaceId, senders);
  await system.send(visitor.apiKey, [...events, ...callsOfOwnModel(events)]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  const alert = {
    kind: 'error_rate',
    bound: 5,
    windowMinutes: 15,
    holdMinutes: 5,
    filter: { name: 'gpt-4o' },
  };
  await mutate(visitor, 'alerts.save', { spaceId, name: 'Errors of gpt-4o', ...alert });
  await mutate(visitor, 'alerts.save', {
    spaceId,
    name: 'Monthly limit',
    kind: 'quota',
    bound: 80,
    holdMinutes: 0,
  });
}

/** Makes a user an operator of the installation, and keeps the user's session. */
export async function makeOperator({ pipeline }: BrowserSystem, email: string): Promise<void> {
  await pipeline.database.update(users).set({ operatorSince: new Date() }).where(eq(users.email, email));
}

const sdk = 'python opentelemetry 1.45.2';
const senders = [
  {
    service: 'shop-assistant',
    scope: 'openinference.instrumentation.langchain',
    version: '0.1.80',
    sdk,
    stored: 1_840,
    merged: 912,
    leftOut: 3_107,
    refused: 2,
    refusal: 'The event of a span is larger than 4194304 bytes (4 MiB).',
  },
  {
    service: 'shop-assistant',
    scope: 'opentelemetry.instrumentation.httpx',
    version: '0.66b1',
    sdk,
    stored: 0,
    merged: 0,
    leftOut: 4_211,
    refused: 0,
  },
  {
    service: 'mechanic',
    scope: 'ai',
    version: '',
    sdk: 'nodejs opentelemetry 2.12.0',
    stored: 77,
    merged: 0,
    leftOut: 39,
    refused: 0,
  },
];

/** A call of a model that no price list has. */
function callsOfOwnModel(events: readonly DemoEvent[]): DemoEvent[] {
  return events
    .filter(({ properties, status }) => properties.llm?.model === 'gpt-4o-mini' && status.state === 'ok')
    .slice(0, 1)
    .map((event) => ({
      ...event,
      id: randomUUID(),
      properties: { llm: { ...event.properties.llm, model: 'spoke-reranker-7b' } },
    }));
}

/** The name of the shop in the sample events. */
export async function nameSpace(visitor: SpaceVisitor): Promise<void> {
  await mutate(visitor, 'spaces.rename', { spaceId: visitor.spaceId, name: 'Spoke & Saddle' });
}

async function mutate({ context }: SpaceVisitor, procedure: string, data: object): Promise<void> {
  const answer = await context.request.post(`/trpc/${procedure}`, { data });
  if (!answer.ok()) throw new Error(`${procedure} failed: ${await answer.text()}`);
}
