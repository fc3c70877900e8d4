import type { WebFigure } from './figure.ts';
import type { Motion } from './frames.ts';

const frameMs = 1_000 / 60;

/** 60 frames a second: as they came, and as they could have come on a machine that does nothing else. */
export function motionFigures(name: string, motion: Motion): WebFigure[] {
  return [
    { name: `${name}: frames a second`, value: motion.framesPerSecond, limit: 58, isLeast: true, unit: '' },
    { name: '  95 % of frames came within', value: motion.frameP95Ms, unit: 'ms' },
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
