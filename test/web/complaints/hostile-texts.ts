import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { llmEvent, toolEvent } from './sent-event.ts';

const secrets = {
  openAi: `sk-proj-${'Ab3'.repeat(10)}`,
  token: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'c2ln'.repeat(6)}`,
};

/**
 * Texts that could run as code, load from another host, be shown in the wrong order, or not be shown at all.
 */
const hostile = [
  '<img src=x onerror="globalThis.hacked = 1"><script>globalThis.hacked = 1</script>',
  '<svg/onload="globalThis.hacked=1"><iframe src="javascript:top.hacked=1"></iframe>',
  '[click](javascript:globalThis.hacked=1) ![see](http://evil.example/pixel.png)',
  '<link rel=stylesheet href=http://evil.example/a.css> {{constructor.constructor("hacked=1")()}}',
].join(' ');
/** Reverses the direction of the following text, and contains a zero-width space. */
const bidi = `user\u202Egnp.exe\u200B`;
const longHostile = `${hostile} ${bidi} ${Object.values(secrets).join(' ')}`;
/** Raw characters that must not occur in a page, not even in attributes. */
const invisible = /[\u202A-\u202E\u2066-\u2069\u200B]/;

/** Events whose texts are all controlled by a client. */
export function testHostileTexts(system: BrowserSystem): void {
  test('hostile texts in every field are shown as text: no code runs, no request is made, no character is hidden', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const other: string[] = [];
    const origin = new URL(system.url).origin;
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('data:')) other.push(url);
    });
    page.on('dialog', (dialog) => void other.push(`dialog ${dialog.message()}`));
    const { llm, tool } = hostileEvents();
    await system.send(apiKey, [llm, tool]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await expectHarmless(page);

    await page.goto(`/s/${spaceId}/events?not.userId=${encodeURIComponent(bidi)}`);
    await page.getByText('is not').waitFor();
    await page.goto(`/s/${spaceId}/events?attr.${encodeURIComponent(bidi)}=${encodeURIComponent(bidi)}`);
    await page.getByText('\\u202e').first().waitFor();
    await expectHarmless(page);
    await page.goto(`/s/${spaceId}/events?peek=${llm.id}`);
    await page.getByRole('region', { name: 'Prompt' }).getByText('<script>').waitFor();
    await expectHarmless(page);
    for (const { id } of [llm, tool]) {
      for (const view of ['conversation', 'text', 'json']) {
        await page.goto(`/s/${spaceId}/events/${id}?view=${view}#${view === 'text' ? '' : 'properties'}`);
        await page.getByRole('tab', { selected: true, name: new RegExp(view, 'i') }).waitFor();
        await page.getByText('\\u202e').first().waitFor();
        await expectHarmless(page);
      }
    }
    const thread = `/s/${spaceId}/threads/${encodeURIComponent(hostileName)}`;
    for (const path of [thread, `/s/${spaceId}/traces/${llm.traceId}`, `/s/${spaceId}/threads`]) {
      await page.goto(path);
      await page
        .getByText('gnp.exe')
        .nth(path === thread ? 2 : 0)
        .waitFor();
      await expectHarmless(page);
    }
    for (const by of ['model', 'tool', 'agent', 'source']) {
      await page.goto(`/s/${spaceId}/charts?by=${by}`);
      await page.getByRole('slider', { name: 'Events' }).waitFor();
      await page.getByRole('table').getByText('gnp.exe').first().waitFor();
      await expectHarmless(page);
    }
    expect(other).toEqual([]);
  });

  test('\\u0000, lone surrogates and control characters are visible, and are copied as sent', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const event = toolEvent({ properties: { tool: { name: 'odd', input: 'ODD' } } });
    const odd = '{"\\u0000key":"nul \\u0000 bell \\u0007 high \\ud83d low \\ude00 pair \\ud83d\\ude00 \\/"}';
    const sent = JSON.stringify(event).replace('"ODD"', odd);
    await system.send(apiKey, [sent]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events/${event.id}`);
    const line = page.getByRole('treeitem').filter({ hasText: 'bell' });
    await line.waitFor();
    expect(await line.textContent()).toContain(
      '\\u0000key: "nul \\u0000 bell \\u0007 high \\ud83d low \\ude00 pair 😀 /"',
    );
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('menuitem', { name: 'JSON, as sent' }).click();
    await page.getByText('JSON copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(sent);
  });
}

const hostileName = `${bidi} <b onclick=alert(1)>${secrets.openAi}`;

function hostileEvents() {
  const name = hostileName;
  const texts = {
    traceId: randomUUID(),
    status: { state: 'error', error: { code: name, httpStatus: 500, message: longHostile } },
    instrumentation: { vendor: 'weir', source: name, sourcePackage: name, sourceFunction: name },
    context: { threadId: name, userId: name, agentId: name, agentGroupId: name },
    additionalProperties: { [bidi]: bidi, [name]: name, url: 'javascript:globalThis.hacked=1' },
  };
  const call = { name, input: { [name]: longHostile }, id: name };
  const llm = llmEvent(
    {
      model: name,
      input: { system: longHostile, prompt: longHostile, tools: [{ name, description: longHostile }] },
      output: { response: longHostile, toolCalls: [call] },
    },
    texts,
  );
  const tool = toolEvent({
    ...texts,
    properties: { tool: { name, input: { [name]: longHostile }, output: longHostile } },
  });
  return { llm, tool };
}

/** Checks the whole page, including attributes. */
async function expectHarmless(page: Page): Promise<void> {
  // The address of a link that filters by a value contains it, escaped.
  const html = `${await page.title()} ${await page.locator('html').innerHTML()}`.replaceAll(
    / href="[^"]*"/g,
    '',
  );
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  expect(around(html, invisible)).toBeUndefined();
  for (const secret of Object.values(secrets)) expect(around(html, new RegExp(secret))).toBeUndefined();
  const links = await page.evaluate('[...document.links].map(({ protocol }) => protocol)');
  expect(new Set(links as string[])).toEqual(new Set(['http:']));
}

/** Finds the match in a text and returns it with its surroundings, for a readable message. */
function around(text: string, wanted: RegExp): string | undefined {
  const index = text.search(wanted);
  return index === -1 ? undefined : text.slice(Math.max(0, index - 200), index + 60);
}
