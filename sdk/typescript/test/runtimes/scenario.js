// The scenario that must work on every runtime. Plain JavaScript, so that Bun, Deno, workerd and browsers
// load it directly.

/** @returns the results, as plain data. */
export async function runScenario({ Weir, weirUrl, providerUrl, waitUntil }) {
  const weir = new Weir({ url: weirUrl, apiKey: 'key', ...(waitUntil && { waitUntil }) });
  const observed = weir.fetch();
  const call = (model, stream) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  const url = `${providerUrl}/chat/completions`;
  const ids = [];
  const hasContext = await weir.trace(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      ids.push(weir.record({ type: 'tool', properties: { tool: { name: 'now', input: { big: 1n } } } }));
      return true;
    },
    { userId: 'u' },
  );
  const whole = await (await observed(url, call('text', false))).json();
  const streamed = await (await observed(url, call('tools', true))).text();
  const stopped = await observed(url, call('slow', true));
  const reader = stopped.body.getReader();
  await reader.read();
  await reader.cancel();
  weir.tool('add', (a, b) => a + b)(1, 2);
  const result = await weir.flush();
  return {
    result,
    hasContext,
    content: whole.choices[0].message.content,
    streamEnd: streamed.trimEnd().slice(-12),
    stats: weir.stats(),
  };
}
