/**
 * Makes a question cheap to ask: whoever asks while it is being asked, or within `reuseMs` of the last answer, gets that
 * answer. A question that fails is asked again by the next one.
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
