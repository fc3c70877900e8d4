import { compareLines } from './compare-lines.ts';
import { type ComparedMessage, compareMessages } from './compare-messages.ts';

/** Two texts as lines, or two conversations as messages. */
export type Compared =
  | { of: 'lines'; before: string[]; after: string[] }
  | { of: 'messages'; before: ComparedMessage[]; after: ComparedMessage[] };

self.addEventListener('message', ({ data }: MessageEvent<Compared>) => {
  self.postMessage(
    data.of === 'lines' ? compareLines(data.before, data.after) : compareMessages(data.before, data.after),
  );
});
