import type { LoopLog } from '../../platform/background-loop.ts';

/** The output of progress: a terminal, or a file or pipe, which gets one line per step. */
export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows the steps of a start. */
export interface Progress {
  /** Runs a step and shows how long it took. `showDetail` shows the current activity of the step. */
  step<T>(title: string, run: (showDetail: (detail: string) => void) => Promise<T>): Promise<T>;
  /** Shows a separate line. */
  note(line: string): void;
}

/** Shows the failures of background work as lines. */
export function logLines(report: (line: string) => void): LoopLog {
  return {
    warn: ({ err }, message) => report(`${message}: ${err instanceof Error ? err.message : err}`),
    info: report,
  };
}

/** The duration of a faster step is not shown. */
const shownSecondsMin = 0.05;

export function openProgress(output: ProgressOutput): Progress {
  let current = '';
  const draw = (text: string) => {
    current = text;
    if (output.isTTY) output.write(`\r\x1b[2K${text}`);
  };
  const line = (text: string) => output.write(output.isTTY ? `\r\x1b[2K${text}\n` : `${text}\n`);
  return {
    async step(title, run) {
      const startedAt = performance.now();
      draw(`  … ${title}`);
      const showDetail = (detail: string) =>
        output.isTTY ? draw(`  … ${title}: ${detail}`) : line(`  … ${detail}`);
      try {
        const result = await run(showDetail);
        const seconds = (performance.now() - startedAt) / 1000;
        line(`  ✓ ${title}${seconds < shownSecondsMin ? '' : ` (${seconds.toFixed(1)} s)`}`);
        return result;
      } catch (error) {
        line(`  ✗ ${title}`);
        throw error;
      } finally {
        current = '';
      }
    },
    note(text) {
      const interrupted = current;
      line(text);
      if (interrupted !== '') draw(interrupted);
    },
  };
}
