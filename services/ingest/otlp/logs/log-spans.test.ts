import { expect, test } from 'vitest';
import { type LogInit, toJsonLogs, toProtobufLogs } from '../../../../harness/fixtures/logs.ts';
import { unlimited } from '../../read/batch-reader.ts';
import { createSpanReaders } from '../batch/span-readers.ts';

const { otlpLogs, otlpLogsJson } = createSpanReaders('weir', unlimited);

const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

/** Maps a request in both encodings, and expects equal results. */
function mapLogs(...records: LogInit[]) {
  const batch = otlpLogs(toProtobufLogs(records));
  const ofJson = otlpLogsJson(toJsonLogs(records));
  expect(ofJson.nodes).toEqual(batch.nodes);
  expect(ofJson.parts.map(({ body }) => body.toString())).toEqual(
    batch.parts.map(({ body }) => body.toString()),
  );
  const events = batch.parts.flatMap(({ body }) => JSON.parse(body.toString()).events);
  return { events, nodes: batch.nodes.flatMap((json) => JSON.parse(json)) };
}

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
    { ...ids, eventName: 'gen_ai.evaluation.result' },
    { traceId: '', spanId: '', eventName: 'gen_ai.choice', body: '{}' },
    {
      ...ids,
      eventName: 'gen_ai.client.inference.operation.details',
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
    },
  );
  expect([events, nodes]).toEqual([[], []]);
});
