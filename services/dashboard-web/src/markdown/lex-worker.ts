import { lexer } from 'marked';

/** Parses Markdown off the main thread. Sends nothing for a text that cannot be parsed. */
self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  self.postMessage(lexer(data));
});
