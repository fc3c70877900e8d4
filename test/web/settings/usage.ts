import { expect, test } from 'vitest';
import { changeSpace } from '../../../store/accounts/spaces.ts';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { until } from '../../support/wait.ts';

const isQuotaError = (error: Error) => /answered 402: .*usage_limit_exceeded/.test(error.message);

/** Usage, its limit, and prices. */
export function testUsage(system: BrowserSystem): void {
  test('a coming 402 is forecast on the overview and the usage page, and explained when it occurs', async () => {
    await using visitor = await system.visit();
    const { page, spaceId, apiKey } = visitor;
    const { database } = system.pipeline;
    const events = demoEvents();
    const limitTo = (monthlyEventLimit: number) => changeSpace(database, spaceId, { monthlyEventLimit });
    // A forecast needs a day of data.
    await system.pipeline
      .sql`UPDATE spaces SET created_at = now() - interval '25 hours' WHERE id = ${spaceId}`;
    await limitTo(events.length + 1);
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.getByRole('link', { name: /the monthly limit is reached on/ }).click();
    await page
      .getByText(/At this rate the monthly limit is reached on .* 402 usage_limit_exceeded/)
      .waitFor();
    await page.getByText(String(events.length + 1), { exact: true }).waitFor();
    const meter = page.getByRole('meter', { name: 'Share of the monthly limit' });
    expect(await meter.getAttribute('aria-valuenow')).toBe(
      String(Math.round((events.length / (events.length + 1)) * 100)),
    );

    await limitTo(events.length);
    await page.reload();
    await page.getByText(/The monthly limit is reached: new batches are rejected with/).waitFor();
    await until(() => system.send(apiKey, demoEvents().slice(0, 1)).then(() => false, isQuotaError));
    await page.goto(`/s/${spaceId}`);
    await page.getByText('New batches are rejected with 402.').waitFor();
  });

  test('a space that is minutes old has no forecast, and the page says why', async () => {
    await using visitor = await system.visit();
    const { page, spaceId, apiKey } = visitor;
    await system.send(apiKey, demoEvents());
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/usage`);
    const forecast = page.locator('dl > div').filter({ hasText: 'Forecast for the month' });
    await forecast.getByText('Available after a day of data.').waitFor();
    expect(await forecast.getByText(/\d/).count()).toBe(0);
  });

  test('costs appear at list prices, and an owner sets prices of their own and for models without one', async () => {
    await using visitor = await system.visit();
    const { page, spaceId, apiKey } = visitor;
    // As a router and a maker name a model with a list price, and one that no list has.
    const names: Record<string, string> = {
      'gpt-4o': 'models/gpt-4o-2024-08-06',
      'mistral-large-latest': 'house-model',
    };
    await system.send(
      apiKey,
      demoEvents().map((event) => {
        const { llm } = event.properties;
        if (llm !== undefined) llm.model = names[String(llm.model)] ?? llm.model;
        return event;
      }),
    );
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.getByText(/^\$\d/).first().waitFor();
    await page.getByRole('link', { name: /of tokens priced, at list prices/ }).click();
    await page.getByText('No configured prices').waitFor();
    const used = page.getByRole('table', { name: 'Prices of models in use' });
    const dated = used.getByRole('row', { name: /gpt-4o-2024-08-06/ });
    await dated.getByText('list price').waitFor();
    await dated.getByText('$2.50', { exact: true }).waitFor();

    // The table of models without a price is editable.
    const unpriced = page.getByRole('table', { name: 'Models without a price' });
    await unpriced.getByLabel('Input price of house-model').fill('2');
    const save = page.getByRole('button', { name: 'Set 1 price' });
    expect(await save.isDisabled()).toBe(true);
    await unpriced.getByLabel('Output price of house-model').fill('6');
    await save.click();
    await unpriced.waitFor({ state: 'detached' });
    await used
      .getByRole('row', { name: /house-model/ })
      .getByText('this space')
      .waitFor();

    // A price of the space replaces the list price.
    await page.getByRole('button', { name: 'Set a price for models/gpt-4o-2024-08-06' }).click();
    const dialog = page.getByRole('dialog', { name: 'Price of a model' });
    await dialog.getByLabel('Input').fill('2,5');
    await dialog.getByText('Enter a decimal number such as 2.50.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Set the price' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Input').fill('3.5');
    await dialog.getByLabel('Cache read').fill('');
    await dialog.getByRole('button', { name: 'Set the price' }).click();
    const set = page.getByRole('table', { name: /^Prices, US dollars/ });
    const row = set.getByRole('row', { name: /gpt-4o-2024-08-06/ });
    await row.getByText('in force').waitFor();
    await row.getByText('$3.50', { exact: true }).waitFor();
    // Without cache prices, cached tokens cost the input price, and the row says so.
    expect(await row.getByText('as input').count()).toBe(2);
    await dated.getByText('this space').waitFor();
    await page.goto(`/s/${spaceId}`);
    await page.getByText(/^100% of tokens priced, .* at list prices$/).waitFor();

    await page.goto(`/s/${spaceId}/settings/prices`);
    await page.getByRole('button', { name: /^Remove the price of models\/gpt-4o/ }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await dated.getByText('list price').waitFor();
  });
}
