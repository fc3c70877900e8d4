import { z } from 'zod';
import { cutText } from '../../../event/text.ts';
import { formatEventCursor } from '../../../store/read/event-cursor.ts';
import type { ListedEvent } from '../events/listed-event.ts';
import { facetField, facetFieldsMax } from '../events/newest-facets.ts';
import { cutTexts, fitting, showListed, showNotes } from './answer.ts';
import { findDifferences } from './differences.ts';
import {
  answerEventsDefault,
  answerEventsMax,
  differencesShown,
  eventCharsDefault,
  eventCharsMax,
  listedTextCharsMax,
} from './limits.ts';
import { eventId, filter, type Reads, tool, withLabel } from './tool.ts';

export const countValues = tool({
  name: 'count_values',
  title: 'Count values',
  description:
    'Counts the calls that match all given fields by their values of `fields`, the most frequent first: which users, models or ' +
    'environments there are. `attribute` counts the keys of additional properties, `attr.KEY` the values of one. Counts cover all calls, or ' +
    'only the `newest` ones.',
  input: {
    ...filter,
    fields: z.array(facetField).min(1).max(facetFieldsMax).default(['state', 'model', 'tool', 'userId']),
    prefix: z.string().max(256).optional().describe('The beginning of the values, in any case'),
  },
  async run({ call }, query) {
    return { fields: cutTexts(await call.events.facets(query), listedTextCharsMax) };
  },
});

export const searchEvents = tool({
  name: 'search_events',
  title: 'Search events',
  description:
    'Lists recorded LLM and tool calls, newest first, that match all given fields. `payload` searches a text in the whole input and ' +
    'output, and `excerpt` says where it stands. Continue with `cursor` from `nextCursor`; `secondsLeft` is about how long the rest takes. A page may be empty before the end.',
  input: {
    ...filter,
    payload: z.string().min(1).max(1_000).optional().describe('A text in the input or output'),
    limit: z.int().min(1).max(answerEventsMax).default(answerEventsDefault),
    cursor: z
      .string()
      .optional()
      .describe('nextCursor of the previous answer, with all other fields unchanged'),
  },
  async run({ call, spaceId }, { payload, limit, cursor, ...given }) {
    if (payload !== undefined)
      return searchPayloads({ call, spaceId }, { ...withLabel(given), payload }, { limit, cursor });
    const { events, nextCursor } = await call.events.list({ ...withLabel(given), limit, cursor });
    const shown = fitting(events.map((event) => showListed(spaceId, event)));
    const last = events[shown.length - 1];
    const next = shown.length < events.length && last !== undefined ? formatEventCursor(last) : nextCursor;
    return { events: shown, nextCursor: next };
  },
});

type SearchInput = Parameters<Reads['call']['events']['search']>[0];

/** Searches a page again after the event in the cursor, since a page may have more than an answer. */
async function searchPayloads(
  { call, spaceId }: Reads,
  query: SearchInput,
  { limit, cursor = '' }: { limit: number; cursor?: string | undefined },
) {
  const [, shownId, page] = /^(?:([0-9a-f-]{36})@)?(.*)$/.exec(cursor) ?? [];
  const found = await call.events.search({ ...query, cursor: page || undefined });
  const from = found.events.findIndex(({ id }) => id === shownId) + 1;
  const left: readonly ListedEvent[] = found.events.slice(from);
  const shown = fitting(left.slice(0, limit).map((event) => showListed(spaceId, event)));
  const last = left[shown.length - 1];
  const isCut = shown.length < left.length && last !== undefined;
  const { leftMs } = found.progress;
  return {
    events: shown,
    nextCursor: isCut ? `${last.id}@${page ?? ''}` : found.nextCursor,
    // Whether the rest is worth its time.
    ...(leftMs !== null && { secondsLeft: Math.ceil(leftMs / 1_000) }),
  };
}

export const getEvent = tool({
  name: 'get_event',
  title: 'Open an event',
  description:
    'One recorded call: its columns, and its JSON text exactly as it was sent, in parts. Continue a long one with `offset` from `nextOffset`.',
  input: {
    id: eventId,
    offset: z.int().min(0).default(0).describe('The first character of the text'),
    chars: z.int().min(1).max(eventCharsMax).default(eventCharsDefault),
  },
  async run({ call, spaceId }, { id, offset, chars }) {
    const { event, notes, ...columns } = await call.events.get({ id });
    // At least one character, which may have two units.
    const text = cutText(event.slice(offset), chars) || event.slice(offset, offset + 2);
    const end = offset + text.length;
    return {
      ...(offset === 0 && { columns: showListed(spaceId, columns), ...showNotes(notes) }),
      text,
      characters: event.length,
      nextOffset: end < event.length ? end : null,
    };
  },
});

export const compareEvents = tool({
  name: 'compare_events',
  title: 'Compare two events',
  description:
    'The values that differ between two recorded calls, by their path in the JSON. Continue with `offset` from `nextOffset`.',
  input: {
    a: eventId,
    b: eventId,
    offset: z.int().min(0).default(0).describe('The first difference'),
  },
  async run({ call }, { a, b, offset }) {
    const [before, after] = await Promise.all([call.events.get({ id: a }), call.events.get({ id: b })]);
    const { differences, isComplete } = await findDifferences(before.event, after.event);
    const page = differences
      .slice(offset, offset + differencesShown)
      .map((one) => cutTexts(one, 2 * listedTextCharsMax));
    const shown = fitting(page);
    const end = offset + shown.length;
    return {
      differences: shown,
      total: differences.length,
      nextOffset: end < differences.length ? end : null,
      ...(!isComplete && { isComplete }),
    };
  },
});
