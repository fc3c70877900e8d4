import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { postRaw } from '../support/http.ts';
import { usePipeline } from '../support/use-pipeline.ts';

/** The cases by name. In a line's `bytes`, each character is one byte. */
const cases = new Map(
  readFileSync(new URL('json-test-suite/cases.ndjson', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { name: string; bytes: string })
    .map(({ name, bytes }) => [name, Buffer.from(bytes, 'latin1')]),
);
const namesOf = (prefix: string) => [...cases.keys()].filter((name) => name.startsWith(prefix));

function read(name: string): Buffer {
  const bytes = cases.get(name);
  if (bytes === undefined) throw new Error(`there is no case ${name}`);
  return bytes;
}

/**
 * Results of the cases that the suite leaves open. Our parser accepts any number and lone surrogates, but
 * only valid UTF-8.
 */
const pinned: Record<string, 'accepted' | 'rejected' | 'accepted alone'> = {
  i_number_double_huge_neg_exp: 'accepted',
  i_number_huge_exp: 'accepted',
  i_number_neg_int_huge_exp: 'accepted',
  i_number_pos_double_huge_exp: 'accepted',
  i_number_real_neg_overflow: 'accepted',
  i_number_real_pos_overflow: 'accepted',
  i_number_real_underflow: 'accepted',
  i_number_too_big_neg_int: 'accepted',
  i_number_too_big_pos_int: 'accepted',
  i_number_very_big_negative_int: 'accepted',
  i_object_key_lone_2nd_surrogate: 'accepted',
  i_string_1st_surrogate_but_2nd_missing: 'accepted',
  i_string_1st_valid_surrogate_2nd_invalid: 'accepted',
  'i_string_UTF-16LE_with_BOM': 'rejected',
  'i_string_UTF-8_invalid_sequence': 'rejected',
  'i_string_UTF8_surrogate_U+D800': 'rejected',
  i_string_incomplete_surrogate_and_escape_valid: 'accepted',
  i_string_incomplete_surrogate_pair: 'accepted',
  i_string_incomplete_surrogates_escape_valid: 'accepted',
  i_string_invalid_lonely_surrogate: 'accepted',
  i_string_invalid_surrogate: 'accepted',
  'i_string_invalid_utf-8': 'rejected',
  'i_string_inverted_surrogates_U+1D11E': 'accepted',
  i_string_iso_latin_1: 'rejected',
  i_string_lone_second_surrogate: 'accepted',
  i_string_lone_utf8_continuation_byte: 'rejected',
  i_string_not_in_unicode_range: 'rejected',
  i_string_overlong_sequence_2_bytes: 'rejected',
  i_string_overlong_sequence_6_bytes: 'rejected',
  i_string_overlong_sequence_6_bytes_null: 'rejected',
  'i_string_truncated-utf-8': 'rejected',
  i_string_utf16BE_no_BOM: 'rejected',
  i_string_utf16LE_no_BOM: 'rejected',
  i_structure_500_nested_arrays: 'accepted',
  'i_structure_UTF-8_BOM_empty_object': 'accepted alone',
};
const pinnedAs = (verdict: string) => namesOf('i_').filter((name) => pinned[name] === verdict);
const accepted = [...namesOf('y_'), ...pinnedAs('accepted')];
const rejected = [...namesOf('n_'), ...pinnedAs('rejected')];

const { pipeline, tenant } = usePipeline();

/** @returns `202`, or the id of the error. */
async function send(body: Buffer): Promise<string> {
  const answer = await postRaw(pipeline, tenant, body);
  if (answer.status === 202) return '202';
  const { error } = answer.body as { error: { id: string; status: number } };
  expect(error.status).toBe(answer.status);
  return error.id;
}

/** A batch of one event, with these bytes as the value of a free field. */
function embed(bytes: Buffer): Buffer {
  const body = JSON.stringify({ events: [toolEvent({ properties: { tool: { value: 'HERE' } } })] });
  const [before = '', after = ''] = body.split('"HERE"');
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}

test('the suite is complete, and every case it leaves open has an expected result', () => {
  expect(['y_', 'n_', 'i_'].map((prefix) => namesOf(prefix).length)).toEqual([95, 188, 35]);
  expect(Object.keys(pinned).sort()).toEqual(namesOf('i_'));
});

test.each(rejected)('%s is rejected as invalid JSON, alone and inside an event', async (name) => {
  expect(await send(read(name))).toBe('invalid_request_body');
  expect(await send(embed(read(name)))).toBe('invalid_request_body');
});

test.each(accepted)('%s is parsed, and accepted inside an event', async (name) => {
  expect(await send(read(name))).toBe('invalid_event_batch');
  expect(await send(embed(read(name)))).toBe('202');
});

test.each(pinnedAs('accepted alone'))('%s is parsed, and rejected inside an event', async (name) => {
  expect(await send(read(name))).toBe('invalid_event_batch');
  expect(await send(embed(read(name)))).toBe('invalid_request_body');
});

test('everything that is accepted is stored, and quarantine is empty', async () => {
  const { spaceId, ...key } = await pipeline.createTenant();
  for (const name of accepted) {
    expect((await postRaw(pipeline, key, embed(read(name)))).status).toBe(202);
  }
  const stored = () => pipeline.sql`SELECT id FROM events WHERE space_id = ${spaceId}`;
  await expect.poll(stored).toHaveLength(accepted.length);
  expect(await pipeline.sql`SELECT id FROM quarantine`).toEqual([]);
});

// The time-out is for a parser with quadratic time: these requests take milliseconds.
test.each([
  ['100,000 brackets that close', 100_000],
  ['brackets to the last byte of 4 MiB', 2 * 1024 * 1024],
])('%s are rejected for their depth', { timeout: 10_000 }, async (_, depth) => {
  const nested = Buffer.from('['.repeat(depth) + ']'.repeat(depth));
  expect(await send(nested)).toBe('invalid_event_batch');
  expect(await send(nested.subarray(0, depth))).toBe('invalid_request_body');
});

test('100,000 brackets inside an event are rejected for their depth', { timeout: 10_000 }, async () => {
  const nested = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000));
  expect(await send(embed(nested))).toBe('invalid_event_batch');
});
