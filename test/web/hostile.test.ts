import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser/use-browser.ts';

const system = useBrowser();

const html = '<img src="https://evil.example/x.png" onerror="alert(1)"><script>alert(2)</script>';

/** An event with a payload given as raw JSON text: JavaScript would change its numbers and escapes. */
function writeEvent(id: string, llm: string): string {
  const now = Date.now();
  return `{"id":"${id}","type":"llm","startTimeMs":${now - 5},"endTimeMs":${now},"durationMs":5,"status":{"state":"ok"},
    "instrumentation":{"vendor":"weir","source":${JSON.stringify(html)},"sourcePackage":"p"},"context":{"userId":${JSON.stringify(html)}},
    "additionalProperties":{"k":"javascript:alert(3)"},"properties":{"llm":${llm}}}`;
}

test('hostile payloads are shown as text: no request is made, no code runs, nothing is hidden or rounded', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(system.url)) foreign.push(request.url());
  });
  const [small, large] = [randomUUID(), randomUUID()];
  const secret = `weir_${'a'.repeat(38)}`;
  const llm = `{"model":${JSON.stringify(html)},"input":{"prompt":"p \\u0000 \\u202e \\ud800 ${secret}"},"output":{"response":"12"},"big":12345678901234567890}`;
  const megabytes = `{"model":"m","input":{"prompt":"${'x'.repeat(4_000_000)}"},"output":{"response":"end"}}`;
  for (const body of [writeEvent(small, llm), writeEvent(large, megabytes)]) {
    const response = await fetch(`${system.pipeline.url}/v1/ingest-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: `{"events":[${body}]}`,
    });
    expect(response.status).toBe(202);
  }
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();

  await page.goto(`/s/${spaceId}/events/${small}`);
  const prompt = page.getByRole('region', { name: 'Prompt' });
  for (const mark of ['\\u0000', '\\u202e', '\\ud800'])
    await prompt.getByText(mark, { exact: true }).waitFor();
  expect(await page.getByText(secret).count()).toBe(0);
  await prompt.getByRole('button', { name: 'Show masked secret' }).click();
  await prompt.getByText(secret).waitFor();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(html);
  await page.goto(`/s/${spaceId}/events/${small}#properties.llm.big`);
  await page.getByText('12345678901234567890', { exact: true }).waitFor();

  await page.goto(`/s/${spaceId}/events/${large}`);
  await page.getByRole('region', { name: 'Response' }).getByText('end').waitFor();
  await page.getByRole('tab', { name: 'Text' }).click();
  await page.getByRole('button', { name: 'Line 1', exact: true }).first().waitFor();
  expect(await page.getByRole('button', { name: /^Line / }).count()).toBeLessThan(100);
  expect(foreign).toEqual([]);
});
