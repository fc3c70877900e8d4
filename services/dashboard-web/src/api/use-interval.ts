import { useEffect, useEffectEvent, useState } from 'react';

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

/** Streams of hidden windows would use up the browser's connections. */
export function useIsHidden(): boolean {
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const onChange = () => setHidden(document.hidden);
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, []);
  return isHidden;
}
