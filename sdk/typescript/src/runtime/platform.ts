/** The parts of `process` that Node, Bun and Deno share. */
interface ProcessLike {
  env?: Record<string, string | undefined>;
  getBuiltinModule?(name: string): unknown;
  on?(event: string, listener: () => void): unknown;
  off?(event: string, listener: () => void): unknown;
  /** Node: the types of the resources that keep the event loop alive. */
  getActiveResourcesInfo?(): string[];
  /** Node: the open handles; the descriptor 0 is the standard input. */
  _getActiveHandles?(): { fd?: unknown }[];
}

/** The parts of a page that are used. */
interface PageLike {
  document?: {
    visibilityState?: string;
    addEventListener?(event: string, listener: () => void): void;
    removeEventListener?(event: string, listener: () => void): void;
  };
}

/** Node's, Bun's or Deno's process; undefined in browsers and on the edge. */
export function findProcess(): ProcessLike | undefined {
  return (globalThis as { process?: ProcessLike }).process;
}

/** The document of a page; undefined outside of browsers. */
export function findDocument(): PageLike['document'] {
  const { document } = globalThis as PageLike;
  return typeof document?.addEventListener === 'function' ? document : undefined;
}

/** An environment variable; undefined if it is not set, or if reading it is not permitted (Deno). */
export function readVariable(name: string): string | undefined {
  try {
    return findProcess()?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Loads a built-in module of Node without an import: a static `node:` import breaks bundles for browsers and
 * the edge.
 *
 * @returns undefined on platforms without it.
 */
export function findBuiltin<T>(name: string): T | undefined {
  try {
    return findProcess()?.getBuiltinModule?.(name) as T | undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether only one connection keeps a Node process alive: no timer, no file, no other connection, and no
 * reader of standard input. False on platforms that do not report this.
 */
export function waitsForOneConnection(): boolean {
  try {
    const process = findProcess();
    const isReading = process?._getActiveHandles?.().some(({ fd }) => fd === 0) ?? true;
    const resources = process?.getActiveResourcesInfo?.().filter((kind) => !/^(Pipe|TTY|TLS)/.test(kind));
    return !isReading && resources?.length === 1 && resources[0] === 'TCPSocketWrap';
  } catch {
    return false;
  }
}

export interface LifecycleListeners {
  /** Called when the event loop is empty. If it starts work, it is called again afterwards. */
  onIdle(): void;
  /** Called when the process exits: only synchronous work is possible. */
  onExit(): void;
  /** Called when the page goes to the background, from which it may never return. */
  onHide(): void;
}

/**
 * Listens for the end of the process or page. It adds no signal handlers: a listener of SIGTERM would disable
 * the default action, which ends the process.
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
