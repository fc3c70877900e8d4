import { useSyncExternalStore } from 'react';

/** The `md` of the styles. */
const narrow = '(width < 48rem)';

/** Whether the window is as narrow as a phone. Lists draw cards there instead of columns. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(narrow).matches);
}

function subscribe(onChange: () => void): () => void {
  const query = matchMedia(narrow);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}
