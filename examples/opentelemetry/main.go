// An agent run with manual spans: a model call, and a call of the tool that the model requested.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// newExporter creates an exporter, which reads address, headers and compression from OTEL_EXPORTER_OTLP_….
func newExporter(ctx context.Context) (*otlptrace.Exporter, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc" {
		return otlptracegrpc.New(ctx)
	}
	return otlptracehttp.New(ctx)
}

func main() {
	ctx := context.Background()
	exporter, err := newExporter(ctx)
	if err != nil {
		log.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	runAgent(ctx, provider.Tracer("my-agent"))
	// Sends the remaining spans, and returns an error if that fails.
	if err := provider.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("Sent.")
}

func runAgent(ctx context.Context, tracer trace.Tracer) {
	ctx, agent := tracer.Start(ctx, "invoke_agent traveller", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"),
		attribute.String("gen_ai.agent.name", "traveller"),
	))
	defer agent.End()

	conversation := []attribute.KeyValue{
		attribute.String("gen_ai.conversation.id", "thread-1"),
		attribute.String("user.id", "user-1"),
	}
	_, chat := tracer.Start(ctx, "chat gpt-4o-mini", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(conversation...), trace.WithAttributes(
			attribute.String("gen_ai.operation.name", "chat"),
			attribute.String("gen_ai.provider.name", "openai"),
			attribute.String("gen_ai.request.model", "gpt-4o-mini"),
			attribute.String("gen_ai.input.messages",
				`[{"role":"user","parts":[{"type":"text","content":"How warm is it in Bern?"}]}]`),
		))
	// … the request …
	chat.SetAttributes(
		attribute.String("gen_ai.output.messages",
			`[{"role":"assistant","parts":[{"type":"tool_call","id":"call_1","name":"get_weather","arguments":{"city":"Bern"}}]}]`),
		attribute.Int("gen_ai.usage.input_tokens", 120),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", 64),
		attribute.Int("gen_ai.usage.output_tokens", 30),
	)
	chat.End()

	_, tool := tracer.Start(ctx, "execute_tool get_weather",
		trace.WithAttributes(conversation...), trace.WithAttributes(
			attribute.String("gen_ai.operation.name", "execute_tool"),
			attribute.String("gen_ai.tool.name", "get_weather"),
			attribute.String("gen_ai.tool.call.id", "call_1"),
			attribute.String("gen_ai.tool.call.arguments", `{"city":"Bern","ticket":9007199254740993123}`),
		))
	tool.SetAttributes(attribute.String("gen_ai.tool.call.result", `{"city":"Bern","celsius":21}`))
	tool.End()
}
