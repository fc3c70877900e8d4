import { expect, test } from 'vitest';
import { toProtobufLogs } from '../../harness/fixtures/logs.ts';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { eventIdOf, traceUuidOf } from '../../services/ingest/otlp/mapping/ids.ts';
import { events } from '../../store/db/schema.ts';
import { listNotes } from '../../store/notes/list-notes.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

/** Results of evaluations from the exporter to the note. */

const { pipeline, tenant } = usePipeline();

const traceId = '0af7651916cd43dd8448eb211c80319c';
const [agent, framework, client] = ['00000000000000a1', '00000000000000b2', '00000000000000c3'];
const evaluation = 'gen_ai.evaluation.result';

test('an evaluation becomes a note on the event of its call, also when the call is merged into another, and once', async () => {
  const { spaceId } = tenant;
  const post = async (path: string, body: Buffer) => {
    const headers = { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/x-protobuf' };
    const answer = await fetch(`${pipeline.url}${path}`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    });
    expect(answer.status).toBe(200);
  };
  const call = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.id': 'resp-1',
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
  };
  const spansOf = (name: string, spans: object[]) => toProtobuf({ scope: { name }, spans });
  const logs = toProtobufLogs([
    {
      ...{ traceId, spanId: framework, eventName: evaluation },
      attributes: { 'gen_ai.evaluation.name': 'Relevance', 'gen_ai.evaluation.score.label': 'good' },
    },
    {
      ...{ traceId, spanId: agent, eventName: evaluation },
      attributes: { 'gen_ai.evaluation.name': 'Goal', 'gen_ai.evaluation.score.value': '0.5' },
    },
  ]);
  const judged = {
    name: evaluation,
    attributes: { 'gen_ai.evaluation.name': 'Tone', 'gen_ai.evaluation.score.value': 0.9 },
  };
  const spans = spansOf('agents', [
    {
      traceId,
      spanId: agent,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' },
    },
    { traceId, spanId: framework, parentSpanId: agent, attributes: call, events: [judged] },
  ]);
  // The writer may store them in any order.
  await Promise.all([post('/v1/logs', logs), post('/v1/traces', spans)]);
  const notes = (id: string) =>
    listNotes(pipeline.database, spaceId, {
      targets: [
        { target: 'event', targetId: id },
        { target: 'trace', targetId: traceUuidOf(traceId) },
      ],
    });
  await until(async () => (await notes(eventIdOf(traceId, framework))).length === 3);
  // Another library describes the same call: one event stays.
  await post(
    '/v1/traces',
    spansOf('client', [{ traceId, spanId: client, parentSpanId: framework, attributes: call }]),
  );
  await post('/v1/logs', logs);
  const id = eventIdOf(traceId, client);
  const stored = async () =>
    (await pipeline.database.select({ id: events.id }).from(events)).map((one) => one.id);
  await until(async () => (await stored()).join() === id && (await notes(id)).length === 3);
  expect(
    (await notes(id))
      .map(({ label, value, score, target, authorName }) => [label, value, score, target, authorName])
      .toSorted(),
  ).toEqual([
    ['Goal', 0.5, 0.5, 'trace', expect.any(String)],
    ['Relevance', 'good', null, 'event', expect.any(String)],
    ['Tone', 0.9, 0.9, 'event', expect.any(String)],
  ]);
});
