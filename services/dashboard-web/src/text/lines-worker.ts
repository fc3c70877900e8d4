import { numberLines } from './split-lines.ts';

self.addEventListener('message', ({ data }: MessageEvent<{ text: string; charsMax: number }>) => {
  self.postMessage(numberLines(data.text, data.charsMax));
});
