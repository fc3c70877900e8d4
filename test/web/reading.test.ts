import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { media } from '../../store/db/schema.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import { uploadMedia } from '../support/protocols/langfuse-media.ts';
import { until } from '../support/wait.ts';
import { llmEvent, toolEvent } from './complaints/sent-event.ts';

const system = useBrowser();

test('Markdown stays drawn, code in it can be copied, and JSON is a tree with every backslash', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const json = JSON.stringify({ pattern: '\\d+_\\w*', note: 'a "quoted" word', list: ['*a*', '_b_'] });
  const markdown = llmEvent({
    output: { response: "# Opening hours\n\n```js\nconst key = 'x'; // why\n```\n\n|a|\n|-:|\n|1|" },
  });
  const response = llmEvent({ input: { prompt: 'As JSON.' }, output: { response: json } });
  await system.send(apiKey, [markdown, response]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.clock.install();
  await page.goto(`/s/${spaceId}/events/${markdown.id}`);
  await page.getByRole('button', { name: 'Markdown' }).first().click();
  await page.getByRole('heading', { name: 'Opening hours' }).waitFor();
  expect(await page.evaluate(`getComputedStyle(document.querySelector('td')).textAlign`)).toBe('right');
  // Longer than a parser may take.
  await page.clock.fastForward(60_000);
  await page.getByRole('button', { name: 'Copy the code' }).focus();
  const coloured = await page.evaluate(
    `['keyword', 'string', 'comment'].map((kind) => [...CSS.highlights.get('code-' + kind)].map(String))`,
  );
  expect(coloured).toEqual([['const'], ["'x'"], ['// why']]);
  await page.getByRole('heading', { name: 'Opening hours' }).waitFor();
  expect(await page.getByText('cannot be displayed as Markdown').count()).toBe(0);

  await page.goto(`/s/${spaceId}/events/${response.id}`);
  const tree = page.getByRole('tree', { name: 'Text as JSON' });
  await tree.getByText('\\d+_\\w*').waitFor();
  await tree.getByText('a "quoted" word').waitFor();
});

test('the live page stops when the session has ended, and says so', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  await page.goto(`/s/${spaceId}/live`);
  await page.getByText('Waiting for events').waitFor();
  await system.send(apiKey, [llmEvent({})]);
  await page.getByRole('grid', { name: 'Live events' }).waitFor();
  const status = await page.evaluate<number>(
    `fetch('/trpc/auth.signOut', { method: 'POST', headers: { 'content-type': 'application/json' } }).then((answer) => answer.status)`,
  );
  expect(status).toBe(200);
  await page.getByText('Stopped', { exact: true }).waitFor();
  await page.getByText('Your session has ended').waitFor();
});

test('j, k and Enter work in tables, and a dialog focuses its first field', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const turns = ['one', 'two'].map((threadId) => llmEvent({}, { context: { threadId } }));
  await system.send(apiKey, turns);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/threads`);
  await page.getByRole('link', { name: 'one' }).waitFor();
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  await page.keyboard.press('j');
  const first = await focused();
  await page.keyboard.press('j');
  await expect.poll(focused).not.toBe(first);
  await page.keyboard.press('k');
  await expect.poll(focused).toBe(first);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/threads/${first}`);

  await page.goto(`/s/${spaceId}/settings/api-keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('INPUT');
});

test('lines have the numbers that they have in the text, however often they are wrapped', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const response = ['word '.repeat(200), 'the line after'].join('\n');
  const event = llmEvent({ output: { response } });
  await system.send(apiKey, [event]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/events/${event.id}?view=text`);
  await page.getByText('3 lines').waitFor();
  const row = page.locator('[data-index]').filter({ hasText: 'the line after' });
  await row.getByRole('button', { name: 'Line 3' }).waitFor();
  const lefts = await page.evaluate<number[]>(
    `[...document.querySelectorAll('[data-index] > span')].map((text) => text.getBoundingClientRect().left)`,
  );
  expect(new Set(lefts).size, lefts.join()).toBe(1);
});

test('images of a conversation are drawn from the data in the event, and addresses only open by a click', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const uploaded = async (bytes: Buffer, type: string) => {
    const id = await uploadMedia({ url: system.pipeline.url, apiKey }, bytes, { contentType: type });
    return `@@@langfuseMedia:type=${type}|id=${id}|source=base64_data_uri@@@`;
  };
  const content = [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    { inlineData: { mimeType: 'image/png', data: png } },
    { type: 'file', data: png, mediaType: 'image/png' },
    { type: 'input_audio', input_audio: { data: 'UklGRiQAAABXQVZF', format: 'wav' } },
    { type: 'image', source: { type: 'url', url: 'https://img.example/a.png' } },
    { type: 'image_url', image_url: { url: '@@@langfuseMedia:type=image/gif|id=hSa7|source=bytes@@@' } },
    { type: 'image_url', image_url: { url: await uploaded(Buffer.from(png, 'base64'), 'image/png') } },
    // A type that a browser would run.
    { type: 'file', file: { file_data: await uploaded(Buffer.from('<script>'), 'text/html') } },
  ];
  await until(async () => (await system.pipeline.database.$count(media, eq(media.spaceId, spaceId))) === 2);
  const long = { type: 'text', text: 'a word '.repeat(9_000) };
  const prompt = JSON.stringify([{ role: 'user', content: [...content, long] }]);
  const event = llmEvent({ input: { prompt } });
  await system.send(apiKey, [event]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('img.example')) foreign.push(request.url());
  });
  await page.goto(`/s/${spaceId}/events/${event.id}`);
  const conversation = page.getByRole('region', { name: 'Prompt' });
  await conversation.getByRole('img', { name: 'In the payload' }).nth(4).waitFor();
  await conversation.getByLabel('Sound, audio/wav').waitFor();
  const link = conversation.getByRole('link', { name: 'Open the image at img.example' });
  expect(await link.getAttribute('href')).toBe('https://img.example/a.png');
  await conversation.getByText('image/gif · not uploaded').waitFor();
  await conversation.getByText(/^text.html · \d/).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    conversation.getByRole('link', { name: 'Download' }).last().click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^[\w-]{22}\.html$/);
  await conversation.getByText('a conversation of 1 message.').waitFor();
  // Its texts are short enough for Markdown, however long the whole prompt is.
  expect(await conversation.getByRole('button', { name: 'Markdown' }).isEnabled()).toBe(true);
  expect(foreign).toEqual([]);
});

test('a text anywhere in a payload is found, marked in the event, and an id leads to what it names', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const prompt = `${'filler '.repeat(3_000)}Straßenbahn-Fahrplan${' filler'.repeat(3_000)}`;
  const wanted = llmEvent({ input: { prompt } }, { context: { threadId: 'tram', userId: 'mia' } });
  await system.send(apiKey, [wanted, llmEvent({ input: { prompt: 'something else' } })]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/events`);
  const field = page.getByRole('combobox', { name: /Search events/ });
  for (const text of [
    'Fahrplan',
    'STRASSENBAHN'.toLowerCase().replace('ss', 'ß'),
    wanted.id,
    wanted.traceId,
  ]) {
    await field.fill(text);
    await page.keyboard.press('Enter');
    await page.getByText('1 event found; ').waitFor();
  }
  await page.getByRole('button', { name: `Open the trace ${wanted.traceId}` }).waitFor();
  await field.fill('fahrplan');
  await page.keyboard.press('Enter');
  await page.getByText(/all of this filter/).waitFor();
  // The row shows where the text stands, and marks it.
  await page.getByRole('row').getByText('Straßenbahn-Fahrplan filler').waitFor();
  await page.getByRole('row').getByText('Prompt:').waitFor();
  await expect.poll(() => page.evaluate(`CSS.highlights.get('found')?.size ?? 0`)).toBe(1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/events/${wanted.id}?**`);
  // The hit stands in the middle of a long text: it is shown, and marked.
  await page.getByText('Straßenbahn-Fahrplan').first().waitFor();
  await expect.poll(() => page.evaluate(`CSS.highlights.get('found')?.size ?? 0`)).toBeGreaterThan(0);

  // Enter right after a pasted id waits for what the id names.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, space, or id' }).fill(wanted.traceId);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/traces/${wanted.traceId}`);

  await page.goto(`/s/${spaceId}/events?text=nowhere`);
  await page.getByText(/No event has “nowhere” in what was sent/).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, space, or id' }).fill('Fahrplan');
  await page.getByRole('option', { name: 'Search events for “Fahrplan”' }).click();
  await page.getByText('1 event found; ').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, space, or id' }).fill('Fahrplan');
  await page.getByRole('option', { name: /Prompt:.*Straßenbahn-Fahrplan filler/ }).click();
  await page.waitForURL(`**/events/${wanted.id}?text=Fahrplan`);
});

test('a hit is in view wherever it stands: in earlier messages, long instructions, thoughts, and trees of JSON', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const messages = Array.from({ length: 60 }, (_, place) => ({
    role: place % 2 === 0 ? 'user' : 'assistant',
    content:
      place === 5
        ? [{ type: 'thinking', thinking: 'They want marmalade.' }]
        : `message ${place}: ${place === 8 ? 'a jar of apricots' : 'nothing'}`,
  }));
  const rules = `${'Be brief and exact. '.repeat(100)}Never speak of the quince.`;
  const chat = llmEvent({ input: { system: rules, prompt: JSON.stringify(messages) } });
  const rows = Array.from({ length: 300 }, (_, sku) => ({
    sku,
    note: sku === 250 ? 'the tangerine shelf' : '',
  }));
  const tool = toolEvent({ properties: { tool: { name: 'stock', input: {}, output: { rows } } } });
  await system.send(apiKey, [chat, tool]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  for (const [text, { id }] of [
    ['MARMALADE', chat],
    ['apricots', chat],
    ['quince', chat],
    ['tangerine', tool],
  ] as const) {
    for (const address of [`events/${id}?text=${text}`, `events/${id}?text=${text}&view=json`]) {
      await page.goto(`/s/${spaceId}/${address}`);
      await expect.poll(() => page.evaluate(hitsInView), { message: address }).toBeGreaterThan(0);
    }
    await page.goto(`/s/${spaceId}/events?text=${text}&peek=${id}`);
    await page.getByRole('complementary', { name: 'Selected event' }).waitFor();
    await expect.poll(() => page.evaluate(hitsInView), { message: text }).toBeGreaterThan(0);
  }
});

const hitsInView = `[...(CSS.highlights.get('found') ?? [])].filter((range) => {
  const { top, bottom, height } = range.getBoundingClientRect();
  return range.startContainer.parentElement.closest('[role=row]') === null && height > 0 && top >= 0 && bottom <= innerHeight;
}).length`;

test('a text of a conversation is found in a thread where it is new, not in every prompt that repeats it', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const messages: { role: string; content: string }[] = [];
  const turns = Array.from({ length: 6 }, (_, turn) => {
    messages.push({ role: 'user', content: turn === 1 ? 'about the harbour' : `question ${turn}` });
    const startTimeMs = Date.now() - 60_000 + turn * 1_000;
    const event = llmEvent(
      { input: { prompt: JSON.stringify(messages) }, output: { response: `answer ${turn}` } },
      { context: { threadId: 'chat' }, startTimeMs, endTimeMs: startTimeMs + 250 },
    );
    messages.push({ role: 'assistant', content: `answer ${turn}` });
    return event;
  });
  await system.send(apiKey, turns);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/threads/chat`);
  const feed = page.getByRole('feed', { name: 'Turns' });
  await feed.getByText('answer 5').waitFor();
  const opened: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('events.get')) opened.push(request.url());
  });
  await page.getByLabel('Find in the thread').fill('harbour');
  await page.keyboard.press('Enter');
  await page.getByText('1 of 1').waitFor();
  // Each event that has the text is read, but not one by one.
  expect(opened).toEqual([]);
  await feed.locator('article[aria-current=true]').getByText('about the harbour').waitFor();
  await expect.poll(() => page.evaluate(`CSS.highlights.get('found')?.size ?? 0`)).toBeGreaterThan(0);
});
