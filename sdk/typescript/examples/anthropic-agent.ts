import Anthropic from '@anthropic-ai/sdk';
// In your program, import from '@weir/sdk'.
import { Weir } from '../src/index.ts';
import { descriptions, stepsMax, tools } from './tools.ts';

/** An agent on Anthropic's Messages API: calls the model, runs the requested tools, and calls it again. */
export async function runAnthropicAgent(question: string): Promise<string> {
  const weir = new Weir();
  const anthropic = weir.observe(new Anthropic());
  const observed = {
    get_weather: weir.tool('get_weather', tools.get_weather),
    get_rate: weir.tool('get_rate', tools.get_rate),
  };
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
  // All model and tool calls share one trace.
  const answer = await weir.trace(
    async () => {
      for (let step = 0; step < stepsMax; step++) {
        const { content, stop_reason: reason } = await anthropic.messages.create({
          model: process.env.MODEL ?? 'claude-haiku-4-5',
          max_tokens: 1_000,
          system: 'Be brief.',
          messages,
          tools: descriptions.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
        });
        if (reason !== 'tool_use') {
          return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        }
        const results: Anthropic.ToolResultBlockParam[] = [];
        for (const block of content) {
          if (block.type !== 'tool_use') continue;
          const run: (input: never) => Promise<unknown> = observed[block.name as keyof typeof observed];
          const output = await run(block.input as never);
          results.push({ type: 'tool_result', tool_use_id: block.id, content: JSON.stringify(output) });
        }
        messages.push({ role: 'assistant', content }, { role: 'user', content: results });
      }
      return '';
    },
    { agentId: 'traveller', threadId: 'thread-1' },
  );
  await weir.shutdown();
  return answer;
}
