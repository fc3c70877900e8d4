const storageKey = 'weir.reloaded-for';

/**
 * Loads the page anew when a part of it is missing: a newer Weir was started and serves other files. Once for each
 * address of a missing part, so that a part that stays missing does not reload for ever.
 */
export function reloadOnMissingChunk(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const reason = String(event.payload);
    if (sessionStorage.getItem(storageKey) === reason) return;
    sessionStorage.setItem(storageKey, reason);
    event.preventDefault();
    window.location.reload();
  });
}
