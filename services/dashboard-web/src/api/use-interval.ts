import { useEffect, useEffectEvent } from 'react';

/** Runs something again and again while the window can be seen; not while `ms` is undefined. */
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
