const { Anthropic } = require('@anthropic-ai/sdk');
const { betaTool } = require('@anthropic-ai/sdk/helpers/beta/json-schema');
const { context, propagation } = require('@opentelemetry/api');
const { printAnswer, schemaOf, tools } = require('./tools.cjs');

/** The runner calls the model, runs the requested tools, and calls the model again. The client creates the spans of all calls. */
async function runAgent(question) {
  const message = await new Anthropic().beta.messages.toolRunner({
    model: process.env.MODEL ?? 'claude-haiku-4-5',
    max_tokens: 1_000,
    system: 'Be brief.',
    messages: [{ role: 'user', content: question }],
    tools: tools.map((tool) =>
      betaTool({
        name: tool.name,
        description: tool.description,
        inputSchema: schemaOf(tool),
        run: (input) => JSON.stringify(tool.run(input)),
      }),
    ),
  });
  return message.content.map((block) => block.text ?? '').join('');
}

const baggage = propagation.createBaggage({
  'gen_ai.conversation.id': { value: 'thread-1' },
  'user.id': { value: 'user-1' },
});
context.with(propagation.setBaggage(context.active(), baggage), () =>
  printAnswer(runAgent('How warm is it in Bern?')),
);
