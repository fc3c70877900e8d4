import type { WebFigure } from './figure.ts';
import type { Motion } from './frames.ts';

const frameMs = 1_000 / 60;

/**
 * Figures for 60 frames a second: the measured rate, and the CPU time per frame, which shows the rate of an
 * idle machine.
 */
export function motionFigures(name: string, motion: Motion): WebFigure[] {
  return [
    { name: `${name}: frames a second`, value: motion.framesPerSecond, limit: 58, isLeast: true, unit: '' },
    { name: '  95th percentile between frames', value: motion.frameP95Ms, unit: 'ms' },
    {
      name: '  CPU time of a frame',
      value: motion.cpuPerFrameMs,
      limit: Number(frameMs.toFixed(1)),
      unit: 'ms',
    },
    { name: '    scripts', value: motion.scriptPerFrameMs, unit: 'ms' },
    { name: '    style and layout', value: motion.layoutPerFrameMs, unit: 'ms' },
    { name: '  longest task', value: motion.longestTaskMs, limit: 50, unit: 'ms' },
  ];
}
