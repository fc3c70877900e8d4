import AxeBuilder from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { llmEvent } from '../complaints/sent-event.ts';

/** Views of lists, and links to them. */
export function testViews(system: BrowserSystem): void {
  test('views are saved, opened, renamed and removed with the keyboard, and a link has fixed times', async () => {
    // Columns of attributes leave less room to the others.
    await using visitor = await system.visit({ width: 1_600 });
    const { page, apiKey, spaceId } = visitor;
    await system.send(apiKey, demoEvents());
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    const errors = '?state=error&not.type=llm&not.name=a&not.name=b&last=7d';
    await page.goto(`/s/${spaceId}/events${errors}`);
    const item = (name: string) => page.getByRole('menuitem', { name, exact: true });
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Views', exact: true }).press('Enter');
      await item(name).press('Enter');
    };
    const save = async (name: string, owner: string) => {
      await choose('Save this view …');
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByLabel('For').selectOption(owner);
    };
    await save('Failed tools', 'Only me');
    expect((await new AxeBuilder({ page }).include('[role=dialog]').analyze()).violations).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('View saved.').waitFor();
    await page.goto(`/s/${spaceId}/events?userId=nobody`);
    await page.getByText('No matching events').waitFor();
    await save('Nobody', 'Everybody in the space');
    await page.keyboard.press('Enter');
    await page.getByText('View saved.').waitFor();

    await choose('Failed tools');
    await page.waitForURL(`**/events${errors}`);
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('button', { name: 'Views', exact: true }).press('Enter');
    await page.getByText('Views of the space').waitFor();
    expect((await new AxeBuilder({ page }).include('[role=menu]').analyze()).violations).toEqual([]);
    await item('Copy link with fixed times').press('Enter');
    await page.getByText('Link copied.').waitFor();
    const link = new URL(await page.evaluate<string>('navigator.clipboard.readText()'));
    const [from, to] = ['from', 'to'].map((name) => Number(link.searchParams.get(name)));
    expect((to ?? 0) - (from ?? 0)).toBe(7 * 86_400_000);
    expect(link.searchParams.has('last')).toBe(false);
    expect(link.searchParams.getAll('not.name')).toEqual(['a', 'b']);

    await choose('Edit views …');
    await page.getByRole('button', { name: 'Rename Failed tools' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Nobody at all');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Rename Nobody at all' }).waitFor();
    expect((await new AxeBuilder({ page }).include('[role=dialog]').analyze()).violations).toEqual([]);
    await page.getByRole('button', { name: 'Remove Nobody', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await page.getByText('Remove the view?').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Remove Nobody', exact: true }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');

    // A view has columns, of attributes, too.
    await system.send(apiKey, [llmEvent({}, { additionalProperties: { release: 'v7', 'a b': 'c' } })]);
    await page.goto(`/s/${spaceId}/events`);
    await page.getByRole('row').filter({ hasText: 'model-1' }).waitFor();
    await page.getByRole('button', { name: 'Columns', exact: true }).press('Enter');
    await page.getByRole('checkbox', { name: 'release' }).press('Space');
    await page.getByLabel('Another attribute').fill('a b');
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: 'a b', checked: true }).waitFor();
    for (const name of ['Cost', 'Thread'])
      await page.getByRole('checkbox', { name, exact: true }).press('Space');
    expect((await new AxeBuilder({ page }).include('[role=dialog]').analyze()).violations).toEqual([]);
    await page.keyboard.press('Escape');
    const titles = [
      'Time',
      'Model or tool',
      'Duration',
      'Tokens',
      'User',
      'release',
      'a b',
      'Input → output',
    ];
    const shown = async () => {
      const texts = await page.getByRole('columnheader').allTextContents();
      return texts.slice(1, -1);
    };
    await expect.poll(shown).toEqual(titles);
    await save('Releases', 'Only me');
    await page.keyboard.press('Enter');
    await page.getByText('View saved.').waitFor();
    await page.goto(`/s/${spaceId}/events`);
    await expect.poll(async () => (await shown()).includes('Cost')).toBe(true);
    await choose('Releases');
    await expect.poll(shown).toEqual(titles);
    await page.getByRole('row').filter({ hasText: 'v7' }).getByText('c', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Only events with release v7' }).press('Enter');
    await page.waitForURL((url) => url.searchParams.get('attr.release') === 'v7');
    await expect.poll(shown).toEqual(titles);
    await expect.poll(() => page.getByRole('row').count()).toBe(2);

    // The lists of threads and of users have views of their own; the palette knows all.
    await page.goto(`/s/${spaceId}/threads?search=errors%3A%3E0&last=24h`);
    await save('Threads with errors', 'Only me');
    await page.keyboard.press('Enter');
    await page.getByText('View saved.').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nobody at');
    await page.getByRole('option', { name: 'Nobody at all' }).click();
    await page.waitForURL(`**/events${errors}`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('threads with');
    await page.getByRole('option', { name: 'Threads with errors' }).click();
    await page.waitForURL('**/threads?search=errors%3A%3E0&last=24h');
  });
}
