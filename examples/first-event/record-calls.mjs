// Records a model call and a tool call with Weir's SDK.
// For the client of a provider, `weir.observe(new OpenAI())` records every call automatically.
import { Weir } from '@weir/sdk';

const weir = new Weir(); // WEIR_URL, WEIR_API_KEY

const getWeather = weir.tool('get_weather', async ({ city }) => `It is 21 °C in ${city}.`);

await weir.trace(
  async () => {
    await getWeather({ city: 'Bern' });
    weir.record({
      type: 'llm',
      durationMs: 1250,
      properties: {
        llm: {
          model: 'gpt-4o',
          input: { system: 'Be brief.', prompt: 'How warm is it in Bern?' },
          output: { mode: 'text', response: 'It is 21 °C.' },
          usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 },
        },
      },
    });
  },
  { threadId: 'thread-1', userId: 'user-1' },
);

const { accepted } = await weir.flush();
console.log(`Delivered ${accepted} events.`);
await weir.shutdown();
