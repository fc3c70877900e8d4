# Records a model call and a tool call with Weir's SDK.
# For the client of a provider, `weir.observe(OpenAI())` records every call automatically.
import weir  # WEIR_URL, WEIR_API_KEY


@weir.tool
def get_weather(city: str) -> str:
    return f"It is 21 °C in {city}."


with weir.trace(thread="thread-1", user="user-1"):
    get_weather("Bern")
    weir.record(
        {
            "type": "llm",
            "durationMs": 1250,
            "properties": {
                "llm": {
                    "model": "gpt-4o",
                    "input": {"system": "Be brief.", "prompt": "How warm is it in Bern?"},
                    "output": {"mode": "text", "response": "It is 21 °C."},
                    "usage": {"inputTokens": 12, "outputTokens": 7, "totalTokens": 19},
                }
            },
        }
    )

print(f"Delivered {weir.flush().accepted} events.")
