import { useEffect, useState } from 'react';

/** Whether nobody can see the window: a stream in it would only keep a connection from other windows. */
export function useIsHidden(): boolean {
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const onChange = () => setHidden(document.hidden);
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, []);
  return isHidden;
}
