"""An agent loop with two tools on OpenAI's client. It uses OpenTelemetry's API, but configures no exporter."""

import json
import os

from openai import OpenAI
from opentelemetry import baggage, context, trace
from opentelemetry.processor.baggage import ALLOW_ALL_BAGGAGE_KEYS, BaggageSpanProcessor

tracer = trace.get_tracer("my-agent")


def get_weather(city, **_):
    return {"city": city, "celsius": 21}


def get_rate(symbol, **_):
    return {"symbol": symbol, "perEuro": 0.94}


tools = {"get_weather": get_weather, "get_rate": get_rate}


def describe(name, argument):
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def call_tool(call):
    """Instrumentations create spans of model calls. A tool is your own function, so create its span here."""
    name = call.function.name
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": call.function.arguments,
    }
    with tracer.start_as_current_span(f"execute_tool {name}", attributes=attributes) as span:
        output = json.dumps(tools[name](**json.loads(call.function.arguments)))
        span.set_attribute("gen_ai.tool.call.result", output)
        return output


def run_agent(question):
    """Calls the model, runs the requested tools, and calls the model again, all below one span and so in one trace."""
    client = OpenAI()
    functions = [describe("get_weather", "city"), describe("get_rate", "symbol")]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "traveller"}
    with tracer.start_as_current_span("invoke_agent traveller", attributes=attributes):
        while True:
            model = os.environ.get("MODEL", "gpt-4o-mini")
            completion = client.chat.completions.create(model=model, messages=messages, tools=functions)
            message = completion.choices[0].message
            if not message.tool_calls:
                return message.content
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": call_tool(call)})


# Baggage reaches all nested calls; the processor adds it to each span as attributes.
trace.get_tracer_provider().add_span_processor(BaggageSpanProcessor(ALLOW_ALL_BAGGAGE_KEYS))
context.attach(baggage.set_baggage("gen_ai.conversation.id", "thread-1"))
context.attach(baggage.set_baggage("user.id", "user-1"))
print(run_agent("How warm is it in Bern?"))
