import { Link } from '@tanstack/react-router';
import { ArrowLeftRight, ArrowRight } from 'lucide-react';
import { useMemo } from 'react';
import { type DiffLook, DiffView } from '../../compare/diff-view.tsx';
import { type ComparedPart, comparedParts, readParts } from '../../compare/parts.ts';
import { useDiff } from '../../compare/use-diff.ts';
import type { WholeEvent } from '../../event/event-query.ts';
import { useIsNarrow } from '../../event-grid/use-is-narrow.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Page } from '../../ui/page.tsx';
import { Loading } from '../../ui/states.tsx';

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
  const diff = useDiff(left, right);
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
      <PartTabs parts={parts} part={part} onChoose={(one) => set({ part: one })} />
      <div
        id="differences"
        role="tabpanel"
        aria-labelledby={`tab-${part}`}
        className="flex min-h-0 flex-1 flex-col"
      >
        {diff.state === 'done' ? (
          <>
            <p role="status" className="shrink-0 border-line border-b px-4 py-1.5 text-muted text-xs md:px-6">
              {summarize(diff.runs)}
            </p>
            <DiffView key={part} before={left} after={right} runs={diff.runs} look={look} />
          </>
        ) : (
          <NoDiff isWorking={diff.state === 'working'} />
        )}
      </div>
    </Page>
  );
}

function PartTabs({
  parts,
  part,
  onChoose,
}: {
  parts: readonly ComparedPart[];
  part: ComparedPart;
  onChoose: (part: ComparedPart) => void;
}) {
  return (
    <div
      role="tablist"
      aria-label="Parts"
      className="flex shrink-0 items-center gap-1 overflow-x-auto border-line border-b px-4 md:px-6"
    >
      {parts.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          id={`tab-${one}`}
          aria-selected={one === part}
          aria-controls="differences"
          onClick={() => onChoose(one)}
          className={classes(
            '-mb-px h-9 border-b-2 px-2.5 text-sm',
            one === part
              ? 'border-accent font-medium text-ink'
              : 'border-transparent text-muted hover:text-ink',
          )}
        >
          {comparedParts[one]}
        </button>
      ))}
    </div>
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
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  return (
    <Link
      to="/s/$spaceId/events/$eventId"
      params={{ spaceId, eventId: event.id }}
      className="max-w-full truncate hover:text-ink hover:underline"
    >
      <ShownText text={event.name ?? 'unnamed'} /> · {formatTime(event.startTimeMs, zone)}
    </Link>
  );
}
