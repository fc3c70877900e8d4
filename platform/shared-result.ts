/** Calls while `run` runs, or within `reuseMs` of its last result, share that. A failure is not reused. */
export function shareResult<T>(reuseMs: number, run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  const forget = () => {
    result = undefined;
  };
  return () => {
    if (result !== undefined) return result;
    result = run();
    result.then(() => setTimeout(forget, reuseMs).unref(), forget);
    return result;
  };
}
