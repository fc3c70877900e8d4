import { createOpenAI } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { context, propagation } from '@opentelemetry/api';
import { generateText, isStepCount, jsonSchema, registerTelemetry, tool } from 'ai';
import { printAnswer, schemaOf, tools } from './tools.cjs';

// Call this once per process.
registerTelemetry(new OpenTelemetry());

/** The AI SDK runs the loop and creates all spans. */
async function runAgent(question) {
  const { text } = await generateText({
    model: createOpenAI().chat(process.env.MODEL ?? 'gpt-4o-mini'),
    instructions: 'Be brief.',
    prompt: question,
    stopWhen: isStepCount(5),
    telemetry: { functionId: 'traveller' },
    tools: Object.fromEntries(
      tools.map((own) => [
        own.name,
        tool({ description: own.description, inputSchema: jsonSchema(schemaOf(own)), execute: own.run }),
      ]),
    ),
  });
  return text;
}

const baggage = propagation.createBaggage({
  'gen_ai.conversation.id': { value: 'thread-1' },
  'user.id': { value: 'user-1' },
});
await context.with(propagation.setBaggage(context.active(), baggage), () =>
  printAnswer(runAgent('How warm is it in Bern?')),
);
