import { crc32, deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser/use-browser.ts';
import { llmEvent, toolEvent } from './complaints/sent-event.ts';

const system = useBrowser();

test('an image in a payload is a chip that opens it, other base64 is not, and everything is copied as sent', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(system.url) && !request.url().startsWith('blob:'))
      foreign.push(request.url());
  });
  const png = makePng(40, 30);
  const svg = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><image href="https://evil.example/x"/>${' '.repeat(200)}</svg>`,
  ).toString('base64');
  const input = {
    openai: { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    anthropic: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    svg: `data:image/svg+xml;base64,${svg}`,
    disguised: `data:image/png;base64,${svg}`,
    broken: `data:image/png;base64,${png.slice(0, 20)}${'A'.repeat(200)}`,
  };
  const tool = toolEvent({ properties: { tool: { name: 'see', input } } });
  const prompt = `look: data:image/png;base64,${png} and say what it is`;
  const llm = llmEvent({ input: { prompt } });
  await system.send(apiKey, [tool, llm]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();

  await page.goto(`/s/${spaceId}/events/${tool.id}#properties.tool.input.openai.image_url`);
  const chips = page.getByRole('button', { name: /^Show the image, image\/png · / });
  const dialog = page.getByRole('dialog');
  const image = dialog.getByRole('img', { name: 'In the payload' });
  await chips.first().waitFor();
  // SVG is shown as a chip without a button, even if it is declared as PNG.
  for (const label of ['image/svg+xml · ', 'image/png · '])
    await page.getByRole('treeitem').getByText(label).first().waitFor();
  expect(await page.getByRole('button', { name: /svg/ }).count()).toBe(0);
  const line = (key: string) => page.getByRole('treeitem').filter({ hasText: new RegExp(`^${key}: `) });
  expect(
    await line('disguised')
      .getByRole('button', { name: /Show the image/ })
      .count(),
  ).toBe(0);
  expect(
    await line('broken')
      .getByRole('button', { name: /Show the image/ })
      .count(),
  ).toBe(1);

  await line('url')
    .getByRole('button', { name: /Show the image/ })
    .click();
  await dialog.getByText('40 × 30 pixels').waitFor();
  expect(await image.getAttribute('src')).toMatch(/^blob:/);
  expect(await drawnSize()).toEqual([40, 30]);
  await dialog.getByRole('button', { name: 'Copy the base64' }).click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(png);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await line('broken')
    .getByRole('button', { name: /Show the image/ })
    .click();
  await dialog.getByRole('alert').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  // Without a data URL, the first bytes determine the type.
  await page.goto(`/s/${spaceId}/events/${tool.id}#properties.tool.input.anthropic.source`);
  // A different hash does not load another document; an opened tree scrolls to its path.
  await page.reload();
  await line('data')
    .getByRole('button', { name: /Show the image/ })
    .click();
  await dialog.getByText('40 × 30 pixels').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await page.goto(`/s/${spaceId}/events/${llm.id}`);
  const turn = page.getByRole('region', { name: 'Prompt' });
  await turn.getByText('and say what it is').waitFor();
  expect(await turn.textContent()).not.toContain(png.slice(0, 60));
  await turn.getByRole('button', { name: /^Show the image/ }).click();
  await image.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await turn.getByRole('button', { name: 'Copy the prompt' }).click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(prompt);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('menuitem', { name: 'JSON, as sent' }).click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(JSON.stringify(llm));
  expect(foreign).toEqual([]);

  async function drawnSize() {
    return await page.evaluate(`(async () => {
      const image = document.querySelector('[role=dialog] img');
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    })()`);
  }
});

/** A greyscale PNG as base64. */
function makePng(width: number, height: number): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per pixel, greyscale.
  header.set([8, 0, 0, 0, 0], 8);
  // Random pixels: an image of one colour would compress to the length of a short text.
  const rows = Buffer.from(
    Array.from({ length: height * (width + 1) }, (_, i) => (i % (width + 1) ? (i * 7919) % 251 : 0)),
  );
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const size = Buffer.alloc(4);
    const sum = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]).toString('base64');
}
