import { lexer } from 'marked';

/** Sends nothing for a text that cannot be parsed. */
self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  self.postMessage(lexer(data));
});
