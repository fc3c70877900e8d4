import { useRef, useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { callQuery, type Output } from '../../api/query.ts';
import { type EventText, readEventText } from '../../event/event-text.ts';
import { downloadEvents } from '../../event/export.ts';
import { readMessages } from '../../event/messages.ts';
import { useSpace } from '../../space/space.tsx';
import { hasMatch, ignoringCase } from '../../text/ignoring-case.ts';
import { FindForm } from '../../ui/search-field.tsx';
import { findNewMessages, findRepeated } from './repeated-text.ts';

/** A more specific text finds the others. */
const foundMax = 500;

interface Finding {
  text: string;
  /** The newest first. */
  ids: string[];
  index: number;
}

interface Finder {
  threadId: string;
  /** Called with the text that is searched for, to be marked. */
  onText: (text: string) => void;
  /** Shows the turn of an event, and loads it before. @returns whether it could be shown. */
  onFound: (eventId: string) => Promise<boolean>;
}

/** Finds turns that are not in the page, too. Enter goes to the next older one, Shift-Enter to the newer. */
export function FindField(finder: Finder) {
  const [text, setText] = useState('');
  const { status, find } = useFinding(text, finder);
  return (
    <search className="max-sm:order-first max-sm:w-full">
      <FindForm
        label="Find in the thread"
        text={text}
        onText={setText}
        onFind={(step) => void find(step)}
        status={status}
        className="h-8 rounded-md border border-edge bg-surface px-2"
        inputClassName="w-44 max-sm:flex-1"
      />
    </search>
  );
}

/** `find` goes to the next older turn with a text, with -1 to the newer. It searches for a new text first. */
function useFinding(text: string, { threadId, onText, onFound }: Finder) {
  const { id: spaceId } = useSpace();
  const [status, setStatus] = useState('');
  const finding = useRef<Finding>(undefined);
  const running = useRef<AbortController>(undefined);
  const find = async (step: 1 | -1) => {
    running.current?.abort();
    if (text === '') {
      onText('');
      return setStatus('');
    }
    const abort = new AbortController();
    running.current = abort;
    try {
      let found = finding.current;
      if (found?.text !== text) {
        setStatus('Searching …');
        onText(text);
        found = { text, ids: await search({ spaceId, threadId, text }, abort.signal), index: -1 };
        if (abort.signal.aborted) return;
        finding.current = found;
      }
      const { length } = found.ids;
      if (length === 0) return setStatus('No matches');
      found.index = (found.index + step + length) % length;
      setStatus(`${found.index + 1} of ${length}${length === foundMax ? '+' : ''}`);
      if (!(await onFound(found.ids[found.index] ?? ''))) setStatus('The turn could not be loaded');
    } catch (error) {
      if (!abort.signal.aborted) setStatus(describeFailure(error).message);
    }
  };
  return { status, find };
}

/** Events in which a text is new, the newest first: most prompts repeat the conversation before them. */
async function search(
  { spaceId, threadId, text }: { spaceId: string; threadId: string; text: string },
  signal: AbortSignal,
): Promise<string[]> {
  const found: Output<'events.search'>['events'] = [];
  let cursor: string | null | undefined;
  do {
    const page = await callQuery(
      'events.search',
      { spaceId, threadId, payload: text, ...(cursor ? { cursor } : {}) },
      signal,
    );
    found.push(...page.events);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < foundMax && !signal.aborted);
  return newestNew(found, { spaceId, wanted: ignoringCase(text) }, signal);
}

type Found = Output<'events.search'>['events'][number];

/** Those of the events, newest first, with the text in a part that the model call before did not have. */
async function newestNew(
  found: readonly Found[],
  { spaceId, wanted }: { spaceId: string; wanted: RegExp },
  signal: AbortSignal,
): Promise<string[]> {
  const newestFirst = found.toSorted((a, b) => b.startTimeMs - a.startTimeMs);
  const calls = new Map(newestFirst.flatMap((one) => (one.type === 'llm' ? [[one.id, one] as const] : [])));
  const [newest, oldest] = [newestFirst[0], newestFirst.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  const repeating = new Set<string>();
  let later: { call: Found; llm: Partial<NonNullable<EventText['llm']>> } | undefined;
  const compareLater = (before: string) => {
    if (later === undefined) return;
    const { prompt = '', ...rest } = later.llm;
    const added = [newPart(prompt, before), JSON.stringify(rest), later.call.errorMessage ?? ''].join('\n');
    if (!hasMatch(added, wanted)) repeating.add(later.call.id);
  };
  const range = { from: oldest.startTimeMs, to: newest.startTimeMs + 1 };
  const filter = { type: 'llm' as const, threadId: newest.threadId ?? '', ...range };
  for await (const text of downloadEvents({ spaceId, filter }, signal)) {
    const { id = '', llm } = readEventText(text);
    const call = calls.get(id.toLowerCase());
    if (call === undefined) continue;
    compareLater(llm?.prompt ?? '');
    later = { call, llm: llm ?? {} };
    calls.delete(call.id);
    if (calls.size === 0) break;
  }
  compareLater('');
  return newestFirst.flatMap(({ id }) => (repeating.has(id) ? [] : [id]));
}

/** What of a prompt the prompt before did not have. */
function newPart(prompt: string, before: string): string {
  const messages = readMessages(prompt);
  if (messages === undefined) return prompt.slice(findRepeated(prompt, before).end);
  const { messages: added } = findNewMessages(messages, readMessages(before), []);
  return added
    .map(({ parts, source }) => source + parts.map((part) => JSON.stringify(part)).join())
    .join('\n');
}
