import { compareLines } from './compare-lines.ts';

/** Compares two texts in a thread of its own, so that the page stays usable. */
self.addEventListener('message', ({ data }: MessageEvent<{ before: string[]; after: string[] }>) => {
  self.postMessage(compareLines(data.before, data.after));
});
