/**
 * Shares the result of an async function: calls while it runs, or within `reuseMs` of its last result, get that result. A
 * failure is not reused.
 */
export function shareAnswer<T>(reuseMs: number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  const forget = () => {
    answer = undefined;
  };
  return () => {
    if (answer !== undefined) return answer;
    answer = ask();
    answer.then(() => setTimeout(forget, reuseMs).unref(), forget);
    return answer;
  };
}
