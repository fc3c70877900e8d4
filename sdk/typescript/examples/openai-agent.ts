import OpenAI from 'openai';
// In your program, import from '@weir/sdk'.
import { Weir } from '../src/index.ts';
import { descriptions, stepsMax, tools } from './tools.ts';

/** An agent on OpenAI's Chat Completions API: calls the model, runs the requested tools, and repeats. */
export async function runOpenAIAgent(question: string): Promise<string> {
  const weir = new Weir();
  const openai = weir.observe(new OpenAI());
  const observed = {
    get_weather: weir.tool('get_weather', tools.get_weather),
    get_rate: weir.tool('get_rate', tools.get_rate),
  };
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: question },
  ];
  // All model and tool calls share one trace.
  const answer = await weir.trace(
    async () => {
      for (let step = 0; step < stepsMax; step++) {
        const { choices } = await openai.chat.completions.create({
          model: process.env.MODEL ?? 'gpt-4o-mini',
          messages,
          tools: descriptions.map((tool) => ({ type: 'function' as const, function: tool })),
        });
        const message = choices[0]?.message;
        if (!message?.tool_calls) return message?.content ?? '';
        messages.push(message);
        for (const call of message.tool_calls) {
          if (call.type !== 'function') continue;
          const run: (input: never) => Promise<unknown> =
            observed[call.function.name as keyof typeof observed];
          const output = await run(JSON.parse(call.function.arguments) as never);
          messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(output) });
        }
      }
      return '';
    },
    { agentId: 'traveller', threadId: 'thread-1' },
  );
  await weir.shutdown();
  return answer;
}
