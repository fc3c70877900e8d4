/**
 * Says each problem once on the console: delivery is in the background, where a failure would go unnoticed.
 */
export class Notices {
  readonly #said = new Set<string>();

  /** @param problem repeated calls for the same problem print nothing. */
  say(problem: string, text: string): void {
    if (this.#said.has(problem)) return;
    this.#said.add(problem);
    console.warn(`weir: ${text}`);
  }
}
