import type { LoopLog } from '../../platform/background-loop.ts';

/** A terminal, or a file or pipe, which gets one line per step. */
export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

export interface Progress {
  /** Shows how long the step took. `showDetail` shows its current activity. */
  step<T>(title: string, run: (showDetail: (detail: string) => void) => Promise<T>): Promise<T>;
  note(line: string): void;
}

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
