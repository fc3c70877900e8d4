const progressMs = 5_000;

export type Report = (line: string) => void;

/** @returns a function that takes the bytes of each step and reports the sum now and then. */
export function openProgress(what: string, totalBytes: number, report: Report): (bytes: number) => void {
  let done = 0;
  let reportedMs = performance.now();
  return (bytes) => {
    done += bytes;
    if (performance.now() - reportedMs < progressMs) return;
    reportedMs = performance.now();
    const percent = totalBytes === 0 ? 100 : Math.min(100, Math.floor((100 * done) / totalBytes));
    report(`${percent}% ${what} (${Math.round(done / 1024 ** 2)} MB)`);
  };
}
