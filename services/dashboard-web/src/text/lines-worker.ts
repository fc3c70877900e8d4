import { numberLines } from './split-lines.ts';

/** Splits long texts off the main thread, so that the page stays usable. */
self.addEventListener('message', ({ data }: MessageEvent<{ text: string; charsMax: number }>) => {
  self.postMessage(numberLines(data.text, data.charsMax));
});
