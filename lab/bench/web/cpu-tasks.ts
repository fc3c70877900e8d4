import type { Browser } from 'playwright-core';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** CPU time of the thread, in microseconds. */
  tdur?: number;
  args?: { name?: string };
}

/**
 * Traces the browser during an action, and finds the page's task with the most CPU time, in milliseconds.
 * Unlike elapsed time, CPU time is not affected by other programs on the machine.
 */
export async function measureTasks<Result>(
  browser: Browser,
  act: () => Promise<Result>,
): Promise<{ result: Result; longestCpuMs: number }> {
  const session = await browser.newBrowserCDPSession();
  try {
    const events: TraceEvent[] = [];
    session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
    const completed = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.start', {
      transferMode: 'ReportEvents',
      traceConfig: { includedCategories: ['toplevel'] },
    });
    const result = await act();
    await session.send('Tracing.end');
    await completed;
    const threads = new Set(
      events
        .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
        .map(({ pid, tid }) => `${pid} ${tid}`),
    );
    const tasks = events.filter(
      ({ name, ph, pid, tid }) => name.endsWith('RunTask') && ph === 'X' && threads.has(`${pid} ${tid}`),
    );
    if (tasks.length === 0) throw new Error('the browser traced no task of a page');
    return { result, longestCpuMs: Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000 };
  } finally {
    await session.detach();
  }
}
