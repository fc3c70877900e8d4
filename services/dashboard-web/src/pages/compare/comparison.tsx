import { ArrowLeftRight, ArrowRight } from 'lucide-react';
import { useMemo } from 'react';
import { useWorker } from '../../api/use-worker.ts';
import type { LineRun } from '../../compare/changes.ts';
import { type DiffLook, DiffView } from '../../compare/diff-view.tsx';
import { type ComparedPart, comparedParts, readParts } from '../../compare/parts.ts';
import type { WholeEvent } from '../../event/event-query.ts';
import { useIsNarrow } from '../../event-grid/use-is-narrow.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { SpaceLink } from '../../space/space-link.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';

const startDiff = () =>
  new Worker(new URL('../../compare/diff-worker.ts', import.meta.url), { type: 'module' });

const looks: readonly DiffLook[] = ['split', 'unified'];

/** Compares one part of two events. The part and the layout are in the address. */
export function Comparison({ before, after }: { before: WholeEvent; after: WholeEvent }) {
  const { search, set } = useFilter();
  const [old, now] = useMemo(() => [readParts(before.event), readParts(after.event)], [before, after]);
  const parts = (Object.keys(comparedParts) as ComparedPart[]).filter(
    (part) => old[part] !== undefined || now[part] !== undefined,
  );
  const part = parts.find((one) => one === search.part) ?? parts[0] ?? 'json';
  // Two columns of a phone have a few words each.
  const usual: DiffLook = useIsNarrow() ? 'unified' : 'split';
  const look = looks.find((one) => one === search.look) ?? usual;
  const [left, right] = [useLines(old[part]), useLines(now[part])];
  const message = useMemo(() => ({ before: left, after: right }), [left, right]);
  const diff = useWorker<typeof message, LineRun[]>(startDiff, message);
  return (
    <Page
      title="Compare"
      isWide
      subtitle={
        <span className="flex flex-wrap items-center gap-x-2">
          <EventLink event={before} />
          <ArrowRight aria-label="with" className="size-3.5" />
          <EventLink event={after} />
          <IconButton label="Swap" onClick={() => set({ a: after.id, b: before.id })}>
            <ArrowLeftRight aria-hidden />
          </IconButton>
        </span>
      }
      actions={
        <Button
          size="small"
          aria-pressed={look === 'unified'}
          onClick={() => set({ look: look === 'unified' ? 'split' : 'unified' })}
        >
          {look === 'unified' ? 'Side by side' : 'In one column'}
        </Button>
      }
    >
      <Tabs
        label="Parts"
        tabs={parts.map((value) => ({ value, label: comparedParts[value] }))}
        chosen={part}
        onChoose={(one) => set({ part: one })}
        className="px-4 md:px-6"
      >
        {diff.state === 'done' ? (
          <>
            <p role="status" className="shrink-0 border-line border-b px-4 py-1.5 text-muted text-xs md:px-6">
              {summarize(diff.result)}
            </p>
            <DiffView key={part} before={left} after={right} runs={diff.result} look={look} />
          </>
        ) : (
          <NoDiff isWorking={diff.state === 'working'} />
        )}
      </Tabs>
    </Page>
  );
}

function NoDiff({ isWorking }: { isWorking: boolean }) {
  if (isWorking) return <Loading rows={10} label="Comparing" />;
  return (
    <p role="alert" className="p-6 text-center text-muted text-sm">
      These texts differ in too many lines to compare.
    </p>
  );
}

function useLines(text: string | undefined): string[] {
  return useMemo(() => (text === undefined ? [] : text.split('\n')), [text]);
}

function summarize(runs: readonly { kind: string; count: number }[]): string {
  const count = (kind: string) =>
    runs.filter((run) => run.kind === kind).reduce((sum, run) => sum + run.count, 0);
  const [removed, added] = [count('removed'), count('added')];
  if (removed + added === 0) return 'The texts are identical.';
  const lines = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'line' : 'lines'}`;
  return `${lines(removed)} removed, ${lines(added)} added.`;
}

function EventLink({ event }: { event: WholeEvent }) {
  const { zone } = useSettings();
  return (
    <SpaceLink page="event" id={event.id} className="max-w-full truncate hover:text-ink hover:underline">
      <ShownText text={event.name ?? 'unnamed'} /> · {formatTime(event.startTimeMs, zone)}
    </SpaceLink>
  );
}
