import { expect, test } from 'vitest';
import { demoEvents } from '../support/browser/demo-events.ts';
import { useBrowser } from '../support/browser/use-browser.ts';

const system = useBrowser();

test('notes are added, edited, found and removed with the keyboard, on events, threads and traces', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  const event = events.find(({ type, traceId }) => type === 'llm' && traceId !== undefined);
  const threadId = String((event?.context as { threadId?: string } | undefined)?.threadId);
  await page.goto(`/s/${spaceId}/events/${event?.id}`);
  await page.getByRole('button', { name: 'Add a note' }).press('Enter');
  await page.getByLabel('Label', { exact: true }).fill('quality');
  await page.getByLabel('Value', { exact: true }).fill('0.4');
  await page.getByLabel('Note', { exact: true }).fill('Wrong city.');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  const notes = page.getByRole('list', { name: 'Notes' });
  await notes.getByText('quality: 0.4').waitFor();
  await notes.getByText('Wrong city.').waitFor();
  await notes.getByRole('button', { name: 'Edit the note' }).press('Enter');
  await page.getByLabel('Value', { exact: true }).fill('0.6');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await notes.getByText('quality: 0.6').waitFor();

  await page.goto(`/s/${spaceId}/traces/${event?.traceId}`);
  await page.getByRole('button', { name: 'Note', exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Add a note' }).press('Enter');
  await page.getByLabel('Label', { exact: true }).fill('thumbs-down');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByRole('dialog').getByText('thumbs-down').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: '1 note' }).waitFor();

  await page.goto(`/s/${spaceId}/threads/${encodeURIComponent(threadId)}`);
  await page.getByRole('article').getByText('quality: 0.6').waitFor();

  await page.goto(`/s/${spaceId}/events`);
  const search = page.getByRole('combobox', { name: /Search events/ });
  await search.fill('label.quality:>0.5 label:thumbs-down ');
  await search.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('label.quality') === '>0.5');
  await expect.poll(() => page.getByRole('row').count()).toBe(2);

  await page.goto(`/s/${spaceId}/events/${event?.id}`);
  const own = notes.getByRole('listitem').filter({ hasText: 'quality' });
  await own.getByRole('button', { name: 'Remove the note' }).press('Enter');
  await page.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
  await own.waitFor({ state: 'detached' });
  await notes.getByText('on the trace').waitFor();
});
