import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, registerTelemetry, tool } from 'ai';
// In your program, import from '@weir/sdk/ai' and '@weir/sdk'.
import { weirTelemetry } from '../src/ai.ts';
import { Weir } from '../src/index.ts';
import { descriptions, stepsMax, tools } from './tools.ts';

const [weather, rate] = descriptions;

/** An agent on the AI SDK, which runs the loop. Call it once: it registers telemetry for the process. */
export async function runAiAgent(question: string): Promise<string> {
  const weir = new Weir();
  registerTelemetry(weirTelemetry(weir));
  const openai = createOpenAI();
  const { text } = await weir.context({ agentId: 'traveller', threadId: 'thread-1' }, () =>
    generateText({
      model: openai.chat(process.env.MODEL ?? 'gpt-4o-mini'),
      instructions: 'Be brief.',
      prompt: question,
      stopWhen: isStepCount(stepsMax),
      tools: {
        get_weather: tool({
          description: weather?.description ?? '',
          inputSchema: jsonSchema<{ city: string }>(weather?.parameters ?? {}),
          execute: tools.get_weather,
        }),
        get_rate: tool({
          description: rate?.description ?? '',
          inputSchema: jsonSchema<{ symbol: string }>(rate?.parameters ?? {}),
          execute: tools.get_rate,
        }),
      },
    }),
  );
  await weir.shutdown();
  return text;
}
