import type { Page } from 'playwright-core';
import type { DemoEvent } from './demo-events.ts';

/** A page that the screenshots and the accessibility tests visit. */
export interface ShownPage {
  name: string;
  path: (space: { spaceId: string; events: DemoEvent[] }) => string;
  /** Resolves when the page shows its content. */
  ready: (page: Page) => Promise<unknown>;
  /** Whether to visit it in a space without events. */
  isEmpty?: boolean;
}

const heading = (name: string | RegExp) => (page: Page) =>
  page.getByRole('heading', { name }).first().waitFor();

/** An LLM call of the sample that requests a tool. */
function withToolCalls(events: DemoEvent[]): DemoEvent | undefined {
  return events.find(({ properties: { llm } }) => {
    const output = llm?.output as { toolCalls?: unknown[] } | undefined;
    return (output?.toolCalls?.length ?? 0) > 0;
  });
}

const failedTool = (events: DemoEvent[]) =>
  events.find(({ type, status }) => type === 'tool' && status.state === 'error');

/** Every view of every page of the dashboard. */
export const shownPages: readonly ShownPage[] = [
  {
    name: 'first-event',
    isEmpty: true,
    path: ({ spaceId }) => `/s/${spaceId}`,
    ready: heading('Send your first event'),
  },
  { name: 'overview', path: ({ spaceId }) => `/s/${spaceId}?last=1h`, ready: heading('Recent events') },
  {
    name: 'events',
    path: ({ spaceId }) => `/s/${spaceId}/events?last=1h`,
    ready: (page) => page.getByRole('row').nth(3).waitFor(),
  },
  {
    name: 'events-filtered',
    path: ({ spaceId, events }) =>
      `/s/${spaceId}/events?type=tool&not.name=get_order&last=7d&peek=${failedTool(events)?.id}`,
    ready: (page) => page.getByRole('complementary', { name: 'Selected event' }).getByText('Input').waitFor(),
  },
  {
    name: 'events-none',
    path: ({ spaceId }) => `/s/${spaceId}/events?userId=nobody`,
    ready: (page) => page.getByText('No matching events').waitFor(),
  },
  {
    name: 'facets',
    path: ({ spaceId }) => `/s/${spaceId}/events?last=1h&state=ok&not.name=get_order`,
    ready: async (page) => {
      const button = page.getByRole('button', { name: 'Facets' });
      if ((await button.getAttribute('aria-expanded')) === 'false') await button.click();
      await page.getByRole('button', { name: 'No longer only State ok' }).waitFor();
    },
  },
  {
    name: 'event-conversation',
    path: ({ spaceId, events }) => `/s/${spaceId}/events/${withToolCalls(events)?.id}`,
    ready: (page) => page.getByRole('heading', { name: /^Calls/ }).waitFor(),
  },
  {
    name: 'event-markdown',
    path: ({ spaceId, events }) => `/s/${spaceId}/events/${withToolCalls(events)?.id}`,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Unfold' }).click();
      const isOn = (await page.getByRole('button', { name: 'Markdown', pressed: true }).count()) > 0;
      if (!isOn) await page.getByRole('button', { name: 'Markdown' }).first().click();
      await page.getByRole('heading', { name: 'Opening hours' }).waitFor();
    },
  },
  {
    name: 'event-tool',
    path: ({ spaceId, events }) => `/s/${spaceId}/events/${failedTool(events)?.id}`,
    ready: (page) => page.getByRole('heading', { name: /^Error/ }).waitFor(),
  },
  {
    name: 'event-text',
    path: ({ spaceId, events }) => `/s/${spaceId}/events/${withToolCalls(events)?.id}?view=text`,
    ready: (page) => page.getByRole('button', { name: 'Line 3', exact: true }).waitFor(),
  },
  {
    name: 'event-json',
    path: ({ spaceId, events }) => `/s/${spaceId}/events/${withToolCalls(events)?.id}#properties.llm.input`,
    ready: (page) => page.getByRole('treeitem').nth(5).waitFor(),
  },
  {
    name: 'trace',
    path: ({ spaceId, events }) => `/s/${spaceId}/traces/${failedTool(events)?.traceId}`,
    ready: (page) => page.getByRole('row').nth(3).waitFor(),
  },
  {
    name: 'trace-selected',
    path: ({ spaceId, events }) =>
      `/s/${spaceId}/traces/${failedTool(events)?.traceId}?peek=${failedTool(events)?.id}`,
    ready: (page) => page.getByRole('complementary', { name: 'Selected event' }).getByText('Input').waitFor(),
  },
  {
    name: 'compare',
    path: ({ spaceId, events }) => {
      const [a, b] = events.filter(({ type }) => type === 'llm');
      return `/s/${spaceId}/compare?a=${a?.id}&b=${b?.id}`;
    },
    ready: (page) => page.getByRole('tabpanel').getByRole('status').waitFor(),
  },
  {
    name: 'threads',
    path: ({ spaceId }) => `/s/${spaceId}/threads`,
    ready: (page) => page.getByRole('row').nth(2).waitFor(),
  },
  {
    name: 'thread',
    path: ({ spaceId, events }) => `/s/${spaceId}/threads/${failedTool(events)?.context.threadId}`,
    ready: (page) => page.getByLabel('Prompt').first().waitFor(),
  },
  {
    name: 'users',
    path: ({ spaceId }) => `/s/${spaceId}/users`,
    ready: (page) => page.getByRole('row').nth(2).waitFor(),
  },
  {
    name: 'user',
    path: ({ spaceId, events }) => `/s/${spaceId}/users/${failedTool(events)?.context.userId}`,
    ready: (page) => page.getByRole('row').nth(1).waitFor(),
  },
  {
    name: 'live',
    path: ({ spaceId }) => `/s/${spaceId}/live`,
    ready: (page) => page.getByText('Waiting for events').waitFor(),
  },
  {
    name: 'charts',
    path: ({ spaceId }) => `/s/${spaceId}/charts?last=30d`,
    ready: (page) => page.getByRole('slider', { name: 'Duration' }).waitFor(),
  },
  {
    name: 'charts-models',
    path: ({ spaceId }) => `/s/${spaceId}/charts?by=model&last=1h&before=1`,
    ready: (page) => page.getByRole('slider', { name: 'Duration, p95' }).waitFor(),
  },
  {
    name: 'api-keys',
    path: ({ spaceId }) => `/s/${spaceId}/settings/api-keys`,
    ready: (page) => page.getByRole('row').nth(1).waitFor(),
  },
  {
    name: 'prices',
    path: ({ spaceId }) => `/s/${spaceId}/settings/prices`,
    ready: (page) => page.getByRole('table', { name: 'Models without a price' }).waitFor(),
  },
  {
    name: 'senders',
    path: ({ spaceId }) => `/s/${spaceId}/senders`,
    ready: (page) => page.getByRole('row').nth(1).waitFor(),
  },
  {
    name: 'senders-none',
    isEmpty: true,
    path: ({ spaceId }) => `/s/${spaceId}/senders`,
    ready: (page) => page.getByText('No spans yet').waitFor(),
  },
  {
    name: 'audit-log',
    path: ({ spaceId }) => `/s/${spaceId}/audit-log`,
    ready: (page) => page.getByRole('row').nth(1).waitFor(),
  },
  {
    name: 'quarantine',
    path: ({ spaceId }) => `/s/${spaceId}/quarantine`,
    ready: (page) =>
      page
        .getByRole('button', { name: /^Replay/ })
        .first()
        .waitFor(),
  },
  {
    name: 'quarantine-none',
    isEmpty: true,
    path: ({ spaceId }) => `/s/${spaceId}/quarantine`,
    ready: (page) => page.getByText('Nothing is in quarantine').waitFor(),
  },
  {
    name: 'usage',
    path: ({ spaceId }) => `/s/${spaceId}/usage`,
    ready: (page) => page.getByRole('columnheader', { name: /^(Of the limit|Share)/ }).waitFor(),
  },
  {
    name: 'alerts',
    path: ({ spaceId }) => `/s/${spaceId}/alerts`,
    ready: (page) => page.getByRole('table', { name: 'Alerts', exact: true }).waitFor(),
  },
  {
    name: 'space-settings',
    path: ({ spaceId }) => `/s/${spaceId}/settings/space`,
    ready: (page) => page.getByText('Nothing would be deleted.').waitFor(),
  },
  {
    name: 'members',
    path: ({ spaceId }) => `/s/${spaceId}/members`,
    ready: (page) => page.getByRole('row').nth(1).waitFor(),
  },
  {
    name: 'installation',
    path: () => '/installation',
    ready: async (page) => {
      await page.getByRole('table', { name: 'Running services' }).waitFor();
      await page.getByRole('table', { name: 'Events by week of receipt, UTC' }).waitFor();
      await page.getByRole('button', { name: /^All \d+ checks/ }).waitFor();
    },
  },
  {
    name: 'profile',
    path: ({ spaceId }) => `/s/${spaceId}/profile`,
    ready: (page) => page.getByText('this one').waitFor(),
  },
  {
    name: 'not-found',
    path: () => '/nowhere',
    ready: (page) => page.getByText('Page not found').waitFor(),
  },
];
