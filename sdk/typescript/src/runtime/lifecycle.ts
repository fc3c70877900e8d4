import { findDocument, findProcess } from './platform.ts';

export interface LifecycleListeners {
  /** Called when the event loop is empty. If it starts work, it is called again afterwards. */
  onIdle(): void;
  /** Called when the process exits: only synchronous work is possible. */
  onExit(): void;
  /** Called when the page goes to the background, from which it may never return. */
  onHide(): void;
}

/**
 * Listens for the end of the process or page. It adds no signal handlers: a listener of SIGTERM would disable the default
 * action, which ends the process.
 *
 * @returns a function that removes the listeners.
 */
export function watchLifecycle({ onIdle, onExit, onHide }: LifecycleListeners): () => void {
  const process = findProcess();
  const document = findDocument();
  const onVisibility = () => {
    if (document?.visibilityState === 'hidden') onHide();
  };
  process?.on?.('beforeExit', onIdle);
  process?.on?.('exit', onExit);
  document?.addEventListener?.('visibilitychange', onVisibility);
  return () => {
    process?.off?.('beforeExit', onIdle);
    process?.off?.('exit', onExit);
    document?.removeEventListener?.('visibilitychange', onVisibility);
  };
}
