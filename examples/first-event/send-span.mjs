// Sends a span of a model call with OpenTelemetry. Instrumented frameworks create such spans automatically.
import { SpanKind } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

// The exporter reads OTEL_EXPORTER_OTLP_TRACES_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS.
const spans = new BatchSpanProcessor({ exporter: new OTLPTraceExporter() });
const tracer = new TracerProvider({ spanProcessors: [spans] }).getTracer('my-agent');

tracer
  .startSpan('chat gpt-4o', {
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.input.messages': JSON.stringify([
        { role: 'user', parts: [{ type: 'text', content: 'How warm is it in Bern?' }] },
      ]),
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: 'It is 21 °C.' }] },
      ]),
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.conversation.id': 'thread-1',
      'user.id': 'user-1',
    },
  })
  .end();

await spans.shutdown();
console.log('Sent 1 span.');
