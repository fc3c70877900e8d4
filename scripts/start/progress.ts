/** Where progress goes: a terminal, or a file or pipe that gets one line a step. */
export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows what the start is doing. */
export interface Progress {
  /** Runs a step; its line ends with the time it took. `say` shows what the step is about right now. */
  step<T>(title: string, run: (say: (detail: string) => void) => Promise<T>): Promise<T>;
  /** A line of its own. */
  note(line: string): void;
}

/** Steps faster than this are not worth a figure. */
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
      const say = (detail: string) =>
        output.isTTY ? draw(`  … ${title}: ${detail}`) : line(`  … ${detail}`);
      try {
        const result = await run(say);
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
