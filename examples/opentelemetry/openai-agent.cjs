const { context, propagation, SpanStatusCode, trace } = require('@opentelemetry/api');
const { OpenAI } = require('openai');
const { printAnswer, schemaOf, tools } = require('./tools.cjs');

const tracer = trace.getTracer('my-agent');

/** Runs a step of the agent in a span, which is the parent of all spans in the step. */
function inSpan(name, attributes, run) {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Instrumentations create spans of model calls. A tool is your own function, so create its span here. */
function callTool({ id, function: { name, arguments: input } }) {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.call.arguments': input,
  };
  return inSpan(`execute_tool ${name}`, attributes, async (span) => {
    const { run } = tools.find((tool) => tool.name === name);
    const output = JSON.stringify(await run(JSON.parse(input)));
    span.setAttribute('gen_ai.tool.call.result', output);
    return output;
  });
}

/** Calls the model, runs the requested tools, and calls the model again, all below one span and so in one trace. */
function runAgent(question) {
  const client = new OpenAI();
  const functions = tools.map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: schemaOf(tool) },
  }));
  const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'traveller' };
  return inSpan('invoke_agent traveller', attributes, async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: question },
    ];
    for (;;) {
      const model = process.env.MODEL ?? 'gpt-4o-mini';
      const { choices } = await client.chat.completions.create({ model, messages, tools: functions });
      const [{ message }] = choices;
      if (!message.tool_calls) return message.content;
      messages.push(message);
      for (const call of message.tool_calls) {
        messages.push({ role: 'tool', tool_call_id: call.id, content: await callTool(call) });
      }
    }
  });
}

/** Sets baggage, which reaches all nested calls. A BaggageSpanProcessor adds it to each span as attributes. */
function inConversation(threadId, userId, run) {
  const baggage = propagation.createBaggage({
    'gen_ai.conversation.id': { value: threadId },
    'user.id': { value: userId },
  });
  return context.with(propagation.setBaggage(context.active(), baggage), run);
}

exports.runAgent = runAgent;
exports.printAnswer = printAnswer;

if (require.main === module) {
  inConversation('thread-1', 'user-1', () => printAnswer(runAgent('How warm is it in Bern?')));
}
