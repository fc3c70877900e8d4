import { lazyRouteComponent } from '@tanstack/react-router';
import { loadPage } from './missing-chunk.ts';

/** A page in a chunk of its own, by the name of its component there. */
export function page<Module extends Record<string, unknown>>(
  load: () => Promise<Module>,
  name: keyof Module & string,
) {
  return lazyRouteComponent(loadPage(load), name);
}
