import { findDocument, findProcess } from './platform.ts';

export interface LifecycleListeners {
  /** The process has nothing left to do. It may start work; then it is called again. */
  onIdle(): void;
  /** The process ends: only synchronous work is done. */
  onExit(): void;
  /** The page goes to the background, and may never come back. */
  onHide(): void;
}

/**
 * Listens to the end of the process or page. No signal handlers: the first listener of SIGTERM takes the default
 * action, which is to end the process, away from the application.
 *
 * @returns what removes the listeners.
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
