import { execFileSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

/** Starts the chromium of this machine, without a window. */
export function openChromium(): Promise<Browser> {
  const find = 'command -v chromium chromium-browser google-chrome | head -1';
  const executablePath = execFileSync('sh', ['-c', find], { encoding: 'utf8' }).trim();
  // Chromium's sandbox does not work for root, as which containers run tests; the pages are our own.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
