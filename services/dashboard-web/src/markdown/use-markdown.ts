import type { Token } from 'marked';
import { useEffect, useState } from 'react';

/** Longer texts are never shown as Markdown, in characters. */
export const markdownCharsMax = 50_000;

/** Timeout of the Markdown parser, in milliseconds: some texts would take minutes. */
const timeoutMs = 2_000;

export type Markdown = { state: 'working' } | { state: 'failed' } | { state: 'done'; tokens: Token[] };

/** Parses a text as Markdown in a worker. `failed`: it timed out or could not be parsed. */
export function useMarkdown(text: string): Markdown {
  const [markdown, setMarkdown] = useState<Markdown>({ state: 'working' });
  useEffect(() => {
    setMarkdown({ state: 'working' });
    const worker = new Worker(new URL('./lex-worker.ts', import.meta.url), { type: 'module' });
    const end = (result: Markdown) => {
      worker.terminate();
      setMarkdown(result);
    };
    const timer = setTimeout(() => end({ state: 'failed' }), timeoutMs);
    worker.addEventListener('message', ({ data }: MessageEvent<Token[]>) =>
      end({ state: 'done', tokens: data }),
    );
    worker.addEventListener('error', () => end({ state: 'failed' }));
    worker.postMessage(text);
    return () => {
      clearTimeout(timer);
      worker.terminate();
    };
  }, [text]);
  return markdown;
}
