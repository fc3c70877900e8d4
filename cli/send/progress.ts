import { SingleBar } from 'cli-progress';
import type { Host } from '../host.ts';

export interface ProgressState {
  /** Part of the input that was read, from 0 to 1. */
  share: number;
  accepted: number;
  rejected: number;
}

export interface Progress {
  show(state: ProgressState): void;
  warn(text: string): void;
  stop(): void;
}

/** Pause before the first line without a terminal; it doubles, since a log keeps all lines. */
const lineIntervalMs = 2_000;

/** A progress bar on a terminal; elsewhere lines, ever more seldom: a dozen an hour. */
export function openProgress(stderr: Host['stderr']): Progress {
  return stderr.isTTY ? openBar(stderr) : openLines(stderr);
}

function openBar(stderr: Host['stderr']): Progress {
  const bar = new SingleBar({
    stream: stderr,
    format: '{bar} {percentage}% | {duration_formatted} | {text}',
    hideCursor: true,
    barsize: 30,
    linewrap: null,
  });
  const started = performance.now();
  bar.start(1, 0, { text: 'starting' });
  return {
    show: (state) => bar.update(state.share, { text: describeState(state, started) }),
    warn: (text) => bar.update({ text }),
    stop: () => bar.stop(),
  };
}

function openLines(stderr: Host['stderr']): Progress {
  const started = performance.now();
  let pauseMs = lineIntervalMs;
  let nextAt = started + pauseMs;
  const write = (text: () => string) => {
    if (performance.now() < nextAt) return;
    stderr.write(`${text()}\n`);
    pauseMs *= 2;
    nextAt = performance.now() + pauseMs;
  };
  return {
    show: (state) => write(() => `${Math.floor(state.share * 100)}% | ${describeState(state, started)}`),
    warn: (text) => write(() => text),
    stop: () => {},
  };
}

function describeState({ accepted, rejected }: ProgressState, started: number): string {
  const perSecond = Math.round((accepted / Math.max(1, performance.now() - started)) * 1_000);
  const refused = rejected > 0 ? `, ${rejected.toLocaleString('en')} rejected` : '';
  return `${accepted.toLocaleString('en')} events accepted${refused} | ${perSecond.toLocaleString('en')}/s`;
}
