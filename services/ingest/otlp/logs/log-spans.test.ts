import { expect, test } from 'vitest';
import type { LogInit } from '../../../../harness/fixtures/logs.ts';
import { mapLogs } from '../../../../test/support/otlp/mapped-spans.ts';
import { eventIdOf, traceUuidOf } from '../mapping/ids.ts';

const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

test('an event with all of a call has its content, below the span of the call', () => {
  const { events, nodes } = mapLogs({
    ...ids,
    eventName: 'gen_ai.client.inference.operation.details',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.response.model': 'gpt-4o',
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"How warm?"}]}]',
      'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Mild."}]}]',
    },
  });
  expect(events).toMatchObject([
    {
      type: 'llm',
      additionalProperties: { 'otel.parent_span_id': ids.spanId },
      properties: { llm: { model: 'gpt-4o', input: { prompt: 'How warm?' }, output: { response: 'Mild.' } } },
    },
  ]);
  expect(nodes).toMatchObject([{ kind: 'log', parent_span_id: ids.spanId, event_id: events[0].id }]);
});

test('two events with all of a call are two calls, also in one span', () => {
  const details = { ...ids, eventName: 'gen_ai.client.inference.operation.details' };
  const records = [
    { ...details, attributes: { 'gen_ai.response.id': 'r-1' } },
    { ...details, timeNs: 7n, attributes: { 'gen_ai.response.id': 'r-2' } },
  ];
  const { events, nodes } = mapLogs(...records);
  expect(events.map(({ properties }) => properties.llm.responseId)).toEqual(['r-1', 'r-2']);
  // Those of messages have a key: the writer joins what other requests have of the same call.
  expect(nodes.map((node) => node.usage_key)).toEqual([undefined, undefined]);
});

test('the messages of a call in several records are one event', () => {
  const record = (name: string, body: object) => ({
    ...ids,
    attributes: { 'event.name': name },
    body: JSON.stringify(body),
  });
  const { events } = mapLogs(
    record('gen_ai.system.message', { role: 'system', content: 'Be brief.' }),
    record('gen_ai.user.message', { role: 'user', content: 'How warm?' }),
    record('gen_ai.choice', {
      message: {
        role: 'assistant',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Bern"}' } },
        ],
      },
      finish_reason: 'tool_calls',
    }),
  );
  expect(events).toMatchObject([
    {
      properties: {
        llm: {
          input: { system: 'Be brief.', prompt: 'How warm?' },
          output: {
            toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' }],
            finishReason: 'tool_calls',
          },
        },
      },
    },
  ]);
});

test('the same records have the same id, and those of another span or time have another', () => {
  const details = { ...ids, eventName: 'gen_ai.client.inference.operation.details' };
  const idOf = (record: LogInit) => mapLogs(record).events[0].id;
  expect(idOf(details)).toBe(idOf(details));
  const others = [details, { ...details, spanId: '00f067aa0ba902b7' }, { ...details, timeNs: 7n }];
  expect(new Set(others.map(idOf)).size).toBe(3);
});

test('other records are left out', () => {
  const { events, nodes } = mapLogs(
    { ...ids, body: 'listening on 8080' },
    { traceId: '', spanId: '', eventName: 'gen_ai.choice', body: '{}' },
    {
      ...ids,
      eventName: 'gen_ai.client.inference.operation.details',
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
    },
  );
  expect([events, nodes]).toEqual([[], []]);
});

test('the result of an evaluation is a note on the call, the trace or the conversation, with the same id when it is sent again', () => {
  const evaluation = (attributes: Record<string, string>, on: object = ids): LogInit => ({
    ...ids,
    ...on,
    eventName: 'gen_ai.evaluation.result',
    attributes: { 'gen_ai.evaluation.name': 'Relevance', ...attributes },
  });
  const records = [
    evaluation({ 'gen_ai.evaluation.score.value': '0.25', 'gen_ai.evaluation.explanation': 'Off topic.' }),
    evaluation(
      { 'gen_ai.evaluation.score.label': 'fail', 'gen_ai.evaluation.score.value': '0' },
      { spanId: '' },
    ),
    evaluation(
      { 'gen_ai.conversation.id': 'thread-1', 'error.type': 'timeout' },
      { traceId: '', spanId: '' },
    ),
    // Of nothing that is known.
    evaluation({}, { traceId: '', spanId: '' }),
  ];
  const { events, notes } = mapLogs(...records);
  expect(events).toEqual([]);
  const eventId = eventIdOf(ids.traceId, ids.spanId);
  const traceId = traceUuidOf(ids.traceId);
  expect(notes).toMatchObject([
    { label: 'Relevance', score: 0.25, text: 'Off topic.', eventId, traceId, spanId: ids.spanId },
    { label: 'Relevance', value: 'fail', score: 0, traceId },
    { label: 'Relevance', text: 'error: timeout', threadId: 'thread-1' },
  ]);
  expect(mapLogs(...records).notes).toEqual(notes);
});

const session = { traceId: '', spanId: '' };

test('a log record of a whole call is the event of the call', () => {
  const { events, nodes } = mapLogs(
    // Claude Code
    {
      ...session,
      attributes: {
        'event.name': 'api_request',
        'session.id': 'thread-1',
        'user.id': 'user-1',
        'prompt.id': 'prompt-1',
        model: 'claude-x',
        input_tokens: '12',
        output_tokens: '7',
        cache_read_tokens: '8',
        cache_creation_tokens: '0',
        duration_ms: '1500',
        cost_usd: '0.01',
        request_id: 'req_1',
      },
      body: 'claude_code.api_request',
    },
    {
      // Some exporters send zeros.
      traceId: '0'.repeat(32),
      spanId: '0'.repeat(16),
      attributes: {
        'event.name': 'tool_result',
        'session.id': 'thread-1',
        'prompt.id': 'prompt-1',
        tool_name: 'Bash',
        tool_use_id: 'toolu_1',
        tool_parameters: '{"bash_command":"ls"}',
        success: 'false',
        error: 'exit 1',
        duration_ms: '20',
      },
    },
  );
  expect(events).toMatchObject([
    {
      type: 'llm',
      durationMs: 1500,
      endTimeMs: 1_760_000_000_900,
      status: { state: 'ok' },
      context: { threadId: 'thread-1', userId: 'user-1' },
      properties: {
        llm: {
          model: 'claude-x',
          responseId: 'req_1',
          usage: {
            inputTokens: 20,
            inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8 },
            outputTokens: 7,
            totalTokens: 27,
          },
          cost: { total: 0.01, currency: 'USD' },
          otel: { name: 'api_request' },
        },
      },
    },
    {
      type: 'tool',
      traceId: events[0].traceId,
      status: { state: 'error', error: { message: 'exit 1' } },
      context: { threadId: 'thread-1' },
      properties: { tool: { name: 'Bash', callId: 'toolu_1', input: { bash_command: 'ls' } } },
    },
  ]);
  expect(nodes).toMatchObject([
    { kind: 'llm', event_id: events[0].id },
    { kind: 'tool', event_id: events[1].id },
  ]);
});

test('Codex writes the tokens of a response to an event of its stream, also within a span', () => {
  const common = { 'conversation.id': 'thread-1', model: 'gpt-x', 'user.account_id': 'user-1' };
  const { events } = mapLogs(
    { ...ids, attributes: { 'event.name': 'codex.sse_event', 'event.kind': 'response.created', ...common } },
    {
      ...ids,
      eventName: 'event otel/src/events/session_telemetry.rs:1153',
      attributes: {
        'event.name': 'codex.sse_event',
        'event.kind': 'response.completed',
        input_token_count: '20',
        output_token_count: '7',
        cached_token_count: '8',
        reasoning_token_count: '3',
        ...common,
      },
    },
    {
      ...session,
      attributes: {
        'event.name': 'codex.api_request',
        endpoint: '/responses',
        duration_ms: '30',
        'http.response.status_code': '429',
        'error.message': 'Slow down.',
        ...common,
      },
    },
    {
      ...session,
      attributes: { 'event.name': 'codex.api_request', endpoint: '/models', 'error.message': 'x', ...common },
    },
    {
      ...session,
      attributes: {
        'event.name': 'codex.tool_result',
        tool_name: 'shell',
        call_id: 'call_1',
        arguments: '{"command":["ls"]}',
        success: 'true',
        output: 'README.md',
        ...common,
      },
    },
  );
  expect(events).toMatchObject([
    {
      additionalProperties: { 'otel.trace_id': ids.traceId },
      context: { threadId: 'thread-1', userId: 'user-1' },
      properties: {
        llm: {
          model: 'gpt-x',
          usage: { inputTokens: 20, outputTokens: 7, outputTokenDetails: { reasoningTokens: 3 } },
        },
      },
    },
    { type: 'llm', status: { state: 'error', error: { httpStatus: 429, message: 'Slow down.' } } },
    {
      type: 'tool',
      status: { state: 'ok' },
      properties: {
        tool: { name: 'shell', callId: 'call_1', input: { command: ['ls'] }, output: 'README.md' },
      },
    },
  ]);
});

test('Gemini CLI writes the content of a call to another record of the same moment', () => {
  const common = { 'session.id': 'thread-1', 'event.timestamp': '2026-01-01T00:00:00.000Z' };
  const details = { 'event.name': 'gen_ai.client.inference.operation.details' };
  const thought = { text: 'Hm.', thought: true };
  const { events } = mapLogs(
    {
      ...session,
      attributes: {
        'event.name': 'gemini_cli.api_response',
        model: 'gemini-x',
        input_token_count: '20',
        output_token_count: '4',
        thoughts_token_count: '3',
        total_token_count: '27',
        prompt_id: 'thread-1########0',
        response_text: JSON.stringify([
          { candidates: [{ content: { role: 'model', parts: [thought, { text: 'Mi' }] } }] },
          { candidates: [{ content: { role: 'model', parts: [{ text: 'ld.' }] } }] },
        ]),
        duration_ms: '12',
        ...common,
      },
    },
    {
      ...session,
      attributes: {
        'gen_ai.response.id': 'r-1',
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"How warm?"}]}]',
        ...details,
        ...common,
      },
    },
    {
      ...ids,
      attributes: {
        'event.name': 'gemini_cli.tool_call',
        function_name: 'read_file',
        function_args: '{"path":"a"}',
        success: 'true',
        ...common,
      },
    },
    // A call that begins
    { ...ids, attributes: { 'event.name': 'gemini_cli.api_request', model: 'gemini-x', ...common } },
    { ...ids, attributes: { ...details, ...common, 'event.timestamp': '2026-01-01T00:00:00.001Z' } },
  );
  expect(events).toMatchObject([
    {
      durationMs: 12,
      properties: {
        llm: {
          model: 'gemini-x',
          responseId: 'r-1',
          input: { prompt: 'How warm?' },
          output: { response: 'Mild.' },
          usage: { outputTokens: 7, outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 } },
        },
      },
    },
    { type: 'tool', properties: { tool: { name: 'read_file', input: { path: 'a' } } } },
  ]);
});

test("Qwen Code's records of model calls are content of their spans, and its records of tools are left out", () => {
  const model = { model: 'qwen-x', input_token_count: '20', output_token_count: '7' };
  const { events, nodes } = mapLogs(
    { ...ids, attributes: { 'event.name': 'qwen-code.api_response', ...model, response_text: 'Mild.' } },
    { ...ids, attributes: { 'event.name': 'qwen-code.tool_call', function_name: 'read_file' } },
  );
  expect(events).toMatchObject([{ properties: { llm: { output: { response: 'Mild.' } } } }]);
  expect(nodes).toMatchObject([{ kind: 'log', parent_span_id: ids.spanId }]);
});

test('a record of a call in a span is left out: the span describes the call', () => {
  const { events } = mapLogs(
    { ...ids, attributes: { 'event.name': 'api_request', model: 'claude-x', input_tokens: '1' } },
    { ...session, attributes: { 'event.name': 'api_request', path: '/v1/users' } },
    { ...session, attributes: { 'event.name': 'api_error', model: 'claude-x', error: '' } },
    { ...session, attributes: { 'event.name': 'user_prompt', prompt: 'How warm?' } },
  );
  expect(events).toEqual([]);
});

test('the content of a moment is of one call, however many calls the moment has', () => {
  const common = { 'session.id': 'thread-1', 'event.timestamp': '2026-01-01T00:00:00.000Z' };
  const call = (prompt: string) => ({
    ...session,
    attributes: {
      'event.name': 'gemini_cli.api_response',
      model: 'gemini-x',
      input_token_count: '20',
      prompt_id: prompt,
      ...common,
    },
  });
  const { events } = mapLogs(call('1'), call('2'), {
    ...session,
    attributes: {
      'event.name': 'gen_ai.client.inference.operation.details',
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"How warm?"}]}]',
      ...common,
    },
  });
  expect(events.map(({ properties }) => properties.llm.input?.prompt)).toEqual(['How warm?', undefined]);
});
