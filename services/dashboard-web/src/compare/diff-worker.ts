import { compareLines } from './compare-lines.ts';

/** Compares two texts off the main thread. */
self.addEventListener('message', ({ data }: MessageEvent<{ before: string[]; after: string[] }>) => {
  self.postMessage(compareLines(data.before, data.after));
});
