import {
  bodies,
  expectedToolCalls,
  gemini,
  geminiCalls,
  geminiText,
  ollama,
  ollamaCalls,
  ollamaText,
  text,
  usages,
} from './provider-bodies.ts';

const json = '{"city":"Bern"}';

/** Splits a text into chunks of five characters. */
const pieces = (whole: string) => whole.match(/[\s\S]{1,5}/gu) ?? [];

const chatChunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-test-2026',
    choices: [{ index: 0, delta, finish_reason: reason }],
  })}\n\n`;

/** Sent only with `stream_options.include_usage`. */
const chatUsageChunk = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-test-2026","choices":[],"usage":${usages.chat}}\n\n`;

const chatText = (content: string) => [
  chatChunk({ role: 'assistant', content: '' }),
  ...pieces(content).map((piece) => chatChunk({ content: piece })),
  chatChunk({}, 'stop'),
  chatUsageChunk,
  'data: [DONE]\n\n',
];

const chatTools = [
  chatChunk({ role: 'assistant', content: null }),
  ...expectedToolCalls.flatMap(({ id, name, arguments: args }, index) => [
    chatChunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...pieces(args).map((piece) => chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]),
  chatChunk({}, 'tool_calls'),
  chatUsageChunk,
  'data: [DONE]\n\n',
];

/** Tool calls as Mistral streams them: each in one piece. */
export const chatWholeTools = [
  chatChunk({ role: 'assistant', content: '' }),
  chatChunk(
    {
      tool_calls: expectedToolCalls.map(({ id, name, arguments: args }, index) => ({
        index,
        id,
        function: { name, arguments: args },
      })),
    },
    'tool_calls',
  ),
  chatUsageChunk,
  'data: [DONE]\n\n',
];

let sequence = 0;
const named = (event: { type: string; [field: string]: unknown }) =>
  `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence++ })}\n\n`;

/** The last event, with the whole response as JSON text, to keep all digits. */
const completed = (body: string) =>
  `event: response.completed\ndata: {"type":"response.completed","sequence_number":${sequence++},"response":${body}}\n\n`;

const started = JSON.parse(bodies.responses.text);
const responsesStart = () => [
  named({
    type: 'response.created',
    response: { ...started, status: 'in_progress', output: [], usage: null },
  }),
];

const responsesText = (content: string, body: string) => [
  ...responsesStart(),
  named({
    type: 'response.output_item.added',
    output_index: 0,
    item: { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
  }),
  named({
    type: 'response.content_part.added',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  }),
  ...pieces(content).map((delta) =>
    named({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta }),
  ),
  named({
    type: 'response.output_text.done',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    text: content,
  }),
  named({
    type: 'response.content_part.done',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: content, annotations: [] },
  }),
  named({ type: 'response.output_item.done', output_index: 0, item: JSON.parse(body).output[0] }),
  completed(body),
];

const responsesTools = () => [
  ...responsesStart(),
  ...expectedToolCalls.flatMap(({ id, name, arguments: args }, index) => {
    const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name };
    const place = { item_id: item.id, output_index: index };
    return [
      named({
        type: 'response.output_item.added',
        output_index: index,
        item: { ...item, status: 'in_progress', arguments: '' },
      }),
      ...pieces(args).map((delta) =>
        named({ type: 'response.function_call_arguments.delta', ...place, delta }),
      ),
      named({ type: 'response.function_call_arguments.done', ...place, arguments: args }),
      named({
        type: 'response.output_item.done',
        output_index: index,
        item: { ...item, status: 'completed', arguments: args },
      }),
    ];
  }),
  completed(bodies.responses.tools),
];

const block = (index: number, start: object, deltas: object[]) => [
  named({ type: 'content_block_start', index, content_block: start }),
  ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
  named({ type: 'content_block_stop', index }),
];

const textBlock = (content: string) =>
  block(
    0,
    { type: 'text', text: '' },
    pieces(content).map((piece) => ({ type: 'text_delta', text: piece })),
  );

const message = (blocks: string[], reason: string) => [
  named({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-test-2026',
      content: [],
      ...{
        stop_reason: null,
        stop_sequence: null,
        usage: { ...JSON.parse(usages.messages), output_tokens: 1 },
      },
    },
  }),
  named({ type: 'ping' }),
  ...blocks,
  named({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 30 },
  }),
  named({ type: 'message_stop' }),
];

const toolBlocks = expectedToolCalls.flatMap(({ id, name, arguments: args }, index) =>
  block(
    index + 1,
    { type: 'tool_use', id, name, input: {} },
    pieces(args).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  ),
);

/** Two characters each, so that a stream of these APIs has more chunks than tests read. */
const pairs = (whole: string) => whole.match(/[\s\S]{1,2}/gu) ?? [];

const geminiStream = (parts: readonly string[]) =>
  parts.map((part, at) => `data: ${gemini(part, at === parts.length - 1 ? 'STOP' : null)}\r\n\r\n`);

const ollamaStream = (messages: readonly string[]) => [
  ...messages.map((each) => `${ollama(each, false)}\n`),
  `${ollama(ollamaText(''))}\n`,
];

/** The events of streams, by API and kind. */
export const streams = {
  chat: { text: chatText(text), json: chatText(json), tools: chatTools },
  responses: {
    text: responsesText(text, bodies.responses.text),
    json: responsesText(json, bodies.responses.json),
    tools: responsesTools(),
  },
  messages: {
    text: message(textBlock(text), 'end_turn'),
    json: message(textBlock(json), 'end_turn'),
    tools: message([...textBlock('Let me see.'), ...toolBlocks], 'tool_use'),
  },
  gemini: {
    text: geminiStream(pairs(text).map(geminiText)),
    json: geminiStream(pairs(json).map(geminiText)),
    tools: geminiStream(geminiCalls),
  },
  ollama: {
    text: ollamaStream(pairs(text).map(ollamaText)),
    json: ollamaStream(pairs(json).map(ollamaText)),
    tools: ollamaStream([ollamaCalls]),
  },
};
