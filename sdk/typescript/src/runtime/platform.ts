/** The parts of `process` that Node, Bun and Deno share. */
interface ProcessLike {
  env?: Record<string, string | undefined>;
  getBuiltinModule?(name: string): unknown;
  on?(event: string, listener: () => void): unknown;
  off?(event: string, listener: () => void): unknown;
  /** Node: the kinds of what keeps the event loop alive. */
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

/** A variable of the environment; undefined where there is none, or where reading it is not permitted (Deno). */
export function readVariable(name: string): string | undefined {
  try {
    return findProcess()?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

/**
 * A module of Node, without an import of it: a static `node:` import breaks bundles for browsers and the edge.
 *
 * @returns undefined where there is none.
 */
export function findBuiltin<T>(name: string): T | undefined {
  try {
    return findProcess()?.getBuiltinModule?.(name) as T | undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a process of Node has nothing left but one connection: no timer, no file, no other connection, and it does not read
 * its standard input. False where that cannot be told.
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
