import { useEffect, useEffectEvent } from 'react';
import { basePath } from '../url/page-values.ts';

/** A part of the pages that could not be loaded: the network is gone, or a newer Weir serves other files. */
export class MissingChunk extends Error {}

/**
 * Wraps the import of a page. The router reloads the window when it sees the browser's own error, and offline
 * that would replace the dashboard by the browser's error page.
 */
export function loadPage<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch((cause) => {
      throw new MissingChunk(String(cause), { cause });
    });
}

const storageKey = 'weir.reloaded-for';
/** How often a page that could not be loaded is tried again, in milliseconds. */
const retryMs = 5_000;

/**
 * Reloads the window as soon as the server answers: at once when a newer Weir was started, otherwise when the
 * network is back.
 *
 * @returns tries now, also when this part was already missing after a reload.
 */
export function useReload(error: unknown): () => void {
  const isMissing = error instanceof MissingChunk;
  const retry = async (isForced: boolean) => {
    if (!isMissing) return;
    // Once for each part, so that a part that stays missing does not reload forever.
    if (!isForced && sessionStorage.getItem(storageKey) === error.message) return;
    if (!(await isReachable())) return;
    sessionStorage.setItem(storageKey, error.message);
    window.location.reload();
  };
  const onTime = useEffectEvent(() => void retry(false));
  useEffect(() => {
    if (!isMissing) return;
    onTime();
    const timer = setInterval(onTime, retryMs);
    window.addEventListener('online', onTime);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', onTime);
    };
  }, [isMissing]);
  return () => void retry(true);
}

/** Whether the server answers. A proxy's error page in its place would replace the dashboard, too. */
async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(`${basePath}/icon.svg`, { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
