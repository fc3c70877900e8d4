import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolEvent } from './support/events.ts';
import { postRaw } from './support/http.ts';
import { type Pipeline, startPipeline, type Tenant } from './support/pipeline.ts';

const directory = join(import.meta.dirname, 'data', 'json-test-suite', 'test_parsing');
const files = readdirSync(directory).sort();
const filesOf = (prefix: string) => files.filter((name) => name.startsWith(prefix));
const read = (name: string) => readFileSync(join(directory, name));

/** What the suite leaves to the parser. Ours takes any number and lone surrogates, and no bytes but valid UTF-8. */
const pinned: Record<string, 'understood' | 'refused'> = {
  'i_number_double_huge_neg_exp.json': 'understood',
  'i_number_huge_exp.json': 'understood',
  'i_number_neg_int_huge_exp.json': 'understood',
  'i_number_pos_double_huge_exp.json': 'understood',
  'i_number_real_neg_overflow.json': 'understood',
  'i_number_real_pos_overflow.json': 'understood',
  'i_number_real_underflow.json': 'understood',
  'i_number_too_big_neg_int.json': 'understood',
  'i_number_too_big_pos_int.json': 'understood',
  'i_number_very_big_negative_int.json': 'understood',
  'i_object_key_lone_2nd_surrogate.json': 'understood',
  'i_string_1st_surrogate_but_2nd_missing.json': 'understood',
  'i_string_1st_valid_surrogate_2nd_invalid.json': 'understood',
  'i_string_UTF-16LE_with_BOM.json': 'refused',
  'i_string_UTF-8_invalid_sequence.json': 'refused',
  'i_string_UTF8_surrogate_U+D800.json': 'refused',
  'i_string_incomplete_surrogate_and_escape_valid.json': 'understood',
  'i_string_incomplete_surrogate_pair.json': 'understood',
  'i_string_incomplete_surrogates_escape_valid.json': 'understood',
  'i_string_invalid_lonely_surrogate.json': 'understood',
  'i_string_invalid_surrogate.json': 'understood',
  'i_string_invalid_utf-8.json': 'refused',
  'i_string_inverted_surrogates_U+1D11E.json': 'understood',
  'i_string_iso_latin_1.json': 'refused',
  'i_string_lone_second_surrogate.json': 'understood',
  'i_string_lone_utf8_continuation_byte.json': 'refused',
  'i_string_not_in_unicode_range.json': 'refused',
  'i_string_overlong_sequence_2_bytes.json': 'refused',
  'i_string_overlong_sequence_6_bytes.json': 'refused',
  'i_string_overlong_sequence_6_bytes_null.json': 'refused',
  'i_string_truncated-utf-8.json': 'refused',
  'i_string_utf16BE_no_BOM.json': 'refused',
  'i_string_utf16LE_no_BOM.json': 'refused',
  'i_structure_500_nested_arrays.json': 'understood',
  'i_structure_UTF-8_BOM_empty_object.json': 'refused',
};
const pinnedAs = (verdict: string) => filesOf('i_').filter((name) => pinned[name] === verdict);
const understood = [...filesOf('y_'), ...pinnedAs('understood')];
const refused = [...filesOf('n_'), ...pinnedAs('refused')];

let pipeline: Pipeline;
let tenant: Tenant;

beforeAll(async () => {
  pipeline = await startPipeline();
  tenant = await pipeline.createTenant();
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

/** @returns `202`, or the id of the error. */
async function send(body: Buffer): Promise<string> {
  const answer = await postRaw(pipeline, tenant, body);
  if (answer.status === 202) return '202';
  const { error } = answer.body as { error: { id: string; status: number } };
  expect(error.status).toBe(answer.status);
  return error.id;
}

/** A batch of one event, valid but for the bytes that stand where a free field's value belongs. */
function embed(bytes: Buffer): Buffer {
  const body = JSON.stringify({ events: [toolEvent({ properties: { tool: { value: 'HERE' } } })] });
  const [before = '', after = ''] = body.split('"HERE"');
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}

test('the whole suite is here, and everything it leaves open is pinned', () => {
  expect(['y_', 'n_', 'i_'].map((prefix) => filesOf(prefix).length)).toEqual([95, 188, 35]);
  expect(Object.keys(pinned).sort()).toEqual(filesOf('i_'));
});

test.each(refused)('%s is refused as no JSON, alone and inside an event', async (name) => {
  expect(await send(read(name))).toBe('invalid_request_body');
  expect(await send(embed(read(name)))).toBe('invalid_request_body');
});

test.each(understood)('%s is understood, and accepted inside an event', async (name) => {
  expect(await send(read(name))).toBe('invalid_event_batch');
  expect(await send(embed(read(name)))).toBe('202');
});

test('whatever was accepted is stored, and nothing of it is in quarantine', async () => {
  const { spaceId, ...key } = await pipeline.createTenant();
  for (const name of understood) {
    expect((await postRaw(pipeline, key, embed(read(name)))).status).toBe(202);
  }
  const stored = () => pipeline.sql`SELECT id FROM events WHERE space_id = ${spaceId}`;
  await expect.poll(stored, { timeout: 20_000 }).toHaveLength(understood.length);
  expect(await pipeline.sql`SELECT id FROM quarantine`).toEqual([]);
});

// The time-out is for a parser that recurses or backtracks: these answers take milliseconds.
test.each([
  ['100,000 brackets that close', 100_000],
  ['brackets to the last byte of 4 MiB', 2 * 1024 * 1024],
])('%s are nested too deep, and soon told so', { timeout: 10_000 }, async (_, depth) => {
  const nested = Buffer.from('['.repeat(depth) + ']'.repeat(depth));
  expect(await send(nested)).toBe('invalid_event_batch');
  expect(await send(nested.subarray(0, depth))).toBe('invalid_request_body');
});

test('100,000 brackets inside an event are nested too deep', { timeout: 10_000 }, async () => {
  const nested = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000));
  expect(await send(embed(nested))).toBe('invalid_event_batch');
});
