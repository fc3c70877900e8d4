/** More digits than a double can hold: Weir must receive all of them. */
export const bigInteger = '9007199254740993123';

export const text = 'It is 21 °C in Zürich 🌤.';

const json = '{"city":"Bern"}';

const argumentTexts = [`{"city":"Bern","ticket":${bigInteger}}`, '{"symbol":"CHF"}'];
const [weatherArguments = '', rateArguments = ''] = argumentTexts;

const chatUsage = `{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":10}}`;
const responsesUsage = `{"input_tokens":120,"input_tokens_details":{"cached_tokens":64},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":10},"total_tokens":150}`;
const messagesUsage = `{"input_tokens":40,"cache_read_input_tokens":64,"cache_creation_input_tokens":16,"output_tokens":30}`;
export const usages = { chat: chatUsage, responses: responsesUsage, messages: messagesUsage };

const chat = (message: string, reason: string) =>
  `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-test-2026","choices":[{"index":0,"message":${message},"logprobs":null,"finish_reason":"${reason}"}],"usage":${chatUsage}}`;

const chatCall = (id: string, name: string, args: string) =>
  `{"id":"${id}","type":"function","function":{"name":"${name}","arguments":${JSON.stringify(args)}}}`;

const responses = (output: string) =>
  `{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","error":null,"incomplete_details":null,"instructions":null,"model":"gpt-test-2026","output":[${output}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"metadata":{},"temperature":1,"top_p":1,"usage":${responsesUsage}}`;

const responseText = (content: string) =>
  `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":${JSON.stringify(content)},"annotations":[]}]}`;

const responseCall = (id: string, name: string, args: string) =>
  `{"id":"fc_${id}","type":"function_call","status":"completed","call_id":"${id}","name":"${name}","arguments":${JSON.stringify(args)}}`;

const messages = (content: string, reason: string) =>
  `{"id":"msg_1","type":"message","role":"assistant","model":"claude-test-2026","content":[${content}],"stop_reason":"${reason}","stop_sequence":null,"usage":${messagesUsage}}`;

const toolUse = (id: string, name: string, args: string) =>
  `{"type":"tool_use","id":"${id}","name":"${name}","input":${args}}`;

const textBlock = (content: string) => `{"type":"text","text":${JSON.stringify(content)}}`;

const geminiUsage = `{"promptTokenCount":120,"cachedContentTokenCount":64,"candidatesTokenCount":20,"thoughtsTokenCount":10,"totalTokenCount":150}`;

/** A response of Gemini, or a chunk of one. @param end the finish reason, of the last chunk only. */
export const gemini = (parts: string, end: string | null = 'STOP') =>
  `{"candidates":[{"content":{"role":"model","parts":[${parts}]},${end === null ? '' : `"finishReason":"${end}",`}"index":0}],${end === null ? '' : `"usageMetadata":${geminiUsage},`}"modelVersion":"gemini-test-2026","responseId":"resp_1"}`;

export const geminiText = (content: string) => `{"text":${JSON.stringify(content)}}`;

const geminiCall = (id: string, name: string, args: string) =>
  `{"functionCall":{"id":"${id}","name":"${name}","args":${args}}}`;

export const geminiCalls = [
  geminiCall('call_1', 'get_weather', weatherArguments),
  geminiCall('call_2', 'get_rate', rateArguments),
];

/** An answer of Ollama, or a line of one. */
export const ollama = (message: string, isEnd = true) =>
  `{"model":"llama-test-2026","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",${message}},${isEnd ? '"done":true,"done_reason":"stop","total_duration":9,"prompt_eval_count":120,"eval_count":30' : '"done":false'}}`;

const ollamaCall = (id: string, name: string, args: string) =>
  `{"id":"${id}","function":{"name":"${name}","arguments":${args}}}`;

export const ollamaText = (content: string) => `"content":${JSON.stringify(content)}`;

export const ollamaCalls = `"content":"","tool_calls":[${ollamaCall('call_1', 'get_weather', weatherArguments)},${ollamaCall('call_2', 'get_rate', rateArguments)}]`;

/** Whole responses, as JSON text, by API and kind. */
export const bodies = {
  chat: {
    text: chat(`{"role":"assistant","content":${JSON.stringify(text)},"refusal":null}`, 'stop'),
    json: chat(`{"role":"assistant","content":${JSON.stringify(json)},"refusal":null}`, 'stop'),
    tools: chat(
      `{"role":"assistant","content":null,"refusal":null,"tool_calls":[${chatCall('call_1', 'get_weather', weatherArguments)},${chatCall('call_2', 'get_rate', rateArguments)}]}`,
      'tool_calls',
    ),
  },
  responses: {
    text: responses(responseText(text)),
    json: responses(responseText(json)),
    tools: responses(
      `${responseCall('call_1', 'get_weather', weatherArguments)},${responseCall('call_2', 'get_rate', rateArguments)}`,
    ),
  },
  messages: {
    text: messages(textBlock(text), 'end_turn'),
    json: messages(textBlock(json), 'end_turn'),
    tools: messages(
      `${textBlock('Let me see.')},${toolUse('call_1', 'get_weather', weatherArguments)},${toolUse('call_2', 'get_rate', rateArguments)}`,
      'tool_use',
    ),
  },
  gemini: {
    text: gemini(geminiText(text)),
    json: gemini(geminiText(json)),
    tools: gemini(geminiCalls.join(',')),
  },
  ollama: {
    text: ollama(ollamaText(text)),
    json: ollama(ollamaText(json)),
    tools: ollama(ollamaCalls),
  },
};

export const expectedToolCalls = [
  { id: 'call_1', name: 'get_weather', arguments: weatherArguments },
  { id: 'call_2', name: 'get_rate', arguments: rateArguments },
];
