import type { RunningWeir } from '../../../harness/system/weir.ts';
import { openChromium } from '../../../harness/tools/chromium.ts';
import { renderFigures, type WebFigure } from './figure.ts';
import { fillSpace } from './fill.ts';
import { measureFollowing } from './following.ts';
import { measureLists } from './lists.ts';
import { measurePages } from './pages.ts';
import { measureTail } from './tail.ts';
import { measureTrace } from './trace.ts';
import type { WebBench } from './window.ts';

const groups: readonly [name: string, measure: (bench: WebBench) => Promise<WebFigure[]>][] = [
  ['pages', measurePages],
  ['the list', measureLists],
  ['a trace', measureTrace],
  ['the live tail', measureTail],
  ['new events on open pages', measureFollowing],
];

/** Measures the pages in a browser, in a space with `rows` events. @returns a table with the limits. */
export async function measureWeb(
  { connection }: RunningWeir,
  { rows, say }: { rows: number; say: (text: string) => void },
): Promise<string> {
  await fillSpace(connection, rows, say);
  await using stack = new AsyncDisposableStack();
  const browser = stack.adopt(await openChromium(), (one) => one.close());
  const figures: WebFigure[] = [];
  for (const [name, measure] of groups) {
    say(`measuring ${name} …`);
    figures.push(...(await measure({ browser, connection })));
  }
  return renderFigures(figures);
}
