import type { Page } from 'playwright-core';
import { percentile } from './figure.ts';

/** The frames of a page during an action. */
export interface Motion {
  framesPerSecond: number;
  /** The 95th percentile of the time between two frames. */
  frameP95Ms: number;
  /**
   * CPU time of the page's main thread per frame, in milliseconds. Other programs on the machine do not
   * affect it.
   */
  cpuPerFrameMs: number;
  /** The shares of scripts, and of style and layout. */
  scriptPerFrameMs: number;
  layoutPerFrameMs: number;
  longestTaskMs: number;
}

const record = `{
  globalThis.frames = [];
  globalThis.blocking = [];
  globalThis.blockingObserver = new PerformanceObserver((list) =>
    globalThis.blocking.push(...list.getEntries().map(({ duration }) => duration)));
  globalThis.blockingObserver.observe({ type: 'longtask' });
  const tick = (atMs) => {
    globalThis.frames.push(atMs);
    globalThis.nextFrame = requestAnimationFrame(tick);
  };
  globalThis.nextFrame = requestAnimationFrame(tick);
}`;

const stop = `new Promise((resolve) => setTimeout(() => {
  globalThis.blockingObserver.disconnect();
  resolve({ frames: globalThis.frames, blocking: globalThis.blocking });
}, 200, cancelAnimationFrame(globalThis.nextFrame)))`;

/** Measures the frames of a page during an action. */
export async function measureMotion(page: Page, act: () => Promise<void>): Promise<Motion> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const read = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return Object.fromEntries(metrics.map(({ name, value }) => [name, value * 1_000]));
    };
    await page.evaluate(record);
    const before = await read();
    await act();
    const after = await read();
    const { frames, blocking } = await page.evaluate<{ frames: number[]; blocking: number[] }>(stop);
    const spent = (...names: string[]) =>
      names.reduce((sum, name) => sum + (after[name] ?? 0) - (before[name] ?? 0), 0) / frames.length;
    const gaps = frames.slice(1).map((atMs, i) => atMs - (frames[i] ?? atMs));
    const lastMs = (frames.at(-1) ?? 0) - (frames[0] ?? 0);
    return {
      framesPerSecond: (gaps.length * 1_000) / lastMs,
      frameP95Ms: percentile(gaps, 0.95),
      cpuPerFrameMs: spent('TaskDuration'),
      scriptPerFrameMs: spent('ScriptDuration'),
      layoutPerFrameMs: spent('LayoutDuration', 'RecalcStyleDuration'),
      longestTaskMs: Math.max(0, ...blocking),
    };
  } finally {
    await session.detach();
  }
}
