import { z } from 'zod';
import { formatEventCursor } from '../../../store/read/event-cursor.ts';
import { fitting, showListed, showNotes, showPayload } from './answer.ts';
import { threadEventsDefault, threadEventsMax, traceEventsShown } from './limits.ts';
import { tool } from './tool.ts';

export const getTrace = tool({
  name: 'get_trace',
  title: 'Open a trace',
  description:
    'The calls of one trace in time order, each with the id of its parent; and the gaps in which nothing ran. Continue with `offset` ' +
    'from `nextOffset`.',
  input: {
    traceId: z.guid().describe('The traceId of an event'),
    offset: z.int().min(0).default(0).describe('The first event'),
  },
  async run({ call, spaceId }, { traceId, offset }) {
    const [{ events, isComplete, gaps }, notes] = await Promise.all([
      call.traces.get({ traceId }),
      call.notes.list({ on: [{ traceId }] }),
    ]);
    const page = events
      .slice(offset, offset + traceEventsShown)
      .map(({ parent, missingParentId, ...event }) => ({
        ...showListed(spaceId, event),
        ...(parent !== null && { parentId: parent.id, ...(parent.isInferred && { isParentInferred: true }) }),
        ...(missingParentId !== null && { missingParentId }),
      }));
    const shown = fitting(page);
    const end = offset + shown.length;
    return {
      events: shown,
      total: events.length,
      nextOffset: end < events.length ? end : null,
      ...(!isComplete && { hasOlderEvents: true }),
      ...(offset === 0 && { gaps: gaps.slice(0, traceEventsShown), ...showNotes(notes) }),
    };
  },
});

export const getThread = tool({
  name: 'get_thread',
  title: 'Read a thread',
  description:
    'The newest calls of one thread in time order, each with the last message of its input and with its output. Read older ones with ' +
    '`cursor` from `olderCursor`. Long texts are truncated; `get_event` returns them in full.',
  input: {
    threadId: z.string().describe('The threadId of an event'),
    limit: z.int().min(1).max(threadEventsMax).default(threadEventsDefault),
    cursor: z.string().optional().describe('olderCursor of the previous answer'),
  },
  async run({ call, spaceId }, { threadId, limit, cursor }) {
    const { events, nextCursor } = await call.events.list({ threadId, limit, cursor });
    const whole = await Promise.all(
      events.map(async (event) => {
        const text = await call.events.get({ id: event.id }).catch(() => undefined);
        const shown = text && { ...showPayload(text.event), ...showNotes(text.notes) };
        return { ...showListed(spaceId, event), ...shown };
      }),
    );
    const shown = fitting(whole);
    const last = events[shown.length - 1];
    const isCut = shown.length < events.length && last !== undefined;
    return { events: shown.toReversed(), olderCursor: isCut ? formatEventCursor(last) : nextCursor };
  },
});
