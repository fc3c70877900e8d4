import { lexer } from 'marked';

/** Reads Markdown in a thread of its own, so that the page stays usable. Nothing is sent for a text that cannot be read. */
self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  self.postMessage(lexer(data));
});
