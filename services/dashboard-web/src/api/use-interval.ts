import { useEffect, useEffectEvent } from 'react';

/** Runs a function repeatedly while the window is visible; never while `ms` is undefined. */
export function useInterval(run: () => void, ms: number | undefined): void {
  const onTime = useEffectEvent(() => {
    if (!document.hidden) run();
  });
  useEffect(() => {
    if (ms === undefined) return;
    const timer = setInterval(onTime, ms);
    return () => clearInterval(timer);
  }, [ms]);
}
