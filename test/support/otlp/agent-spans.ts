import { context, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

/**
 * The spans of an agent that calls a model, calls a tool, and calls the model again, which fails. One span is
 * an HTTP request, as auto-instrumentations create it below a call.
 */
export function recordAgent(): readonly ReadableSpan[] {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] });
  runAgent(provider.getTracer('test-instrumentation', '1.2.3'));
  return memory.getFinishedSpans();
}

/** Number of these spans that are calls of a model or a tool. */
export const agentEventCount = 3;

function runAgent(tracer: Tracer): void {
  const startTime = 1_760_000_000_000;
  const agent = tracer.startSpan('invoke_agent planner', {
    startTime,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' },
  });
  const inAgent = trace.setSpan(context.active(), agent);
  const chat = tracer.startSpan(
    'chat gpt-4o',
    {
      startTime: startTime + 10,
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.input.messages':
          '[{"role":"user","parts":[{"type":"text","content":"How warm is it in Bern? 🦦"}]}]',
        'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"21 °C."}]}]',
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.output_tokens': 3,
        'gen_ai.conversation.id': 'thread-1',
        'gen_ai.request.stop_sequences': ['a', 'b'],
      },
    },
    inAgent,
  );
  tracer
    .startSpan(
      'POST',
      { startTime: startTime + 11, attributes: { 'http.request.method': 'POST' } },
      trace.setSpan(inAgent, chat),
    )
    .end(startTime + 19);
  chat.end(startTime + 20);
  const tool = tracer.startSpan(
    'execute_tool get_weather',
    {
      startTime: startTime + 30,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'get_weather',
        'gen_ai.tool.call.arguments': '{"city":"Bern","station":9007199254740993}',
      },
    },
    inAgent,
  );
  const broken = tracer.startSpan(
    'chat gpt-4o',
    {
      startTime: startTime + 31,
      attributes: { 'gen_ai.operation.name': 'chat', 'error.type': 'rate_limit_error' },
    },
    trace.setSpan(inAgent, tool),
  );
  broken.recordException(new Error('Slow down.'));
  broken.setStatus({ code: SpanStatusCode.ERROR, message: 'Slow down.' });
  broken.end(startTime + 32);
  tool.end(startTime + 40);
  agent.end(startTime + 50);
}
