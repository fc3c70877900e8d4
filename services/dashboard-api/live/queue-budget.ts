/** Bounds how many events wait for the slow clients of all live streams together. */
export class QueueBudget {
  readonly #eventsMax: number;
  #events = 0;

  constructor(eventsMax: number) {
    this.#eventsMax = eventsMax;
  }

  /** @returns whether there is room for so many more. */
  take(events: number): boolean {
    if (events > 0 && this.#events + events > this.#eventsMax) return false;
    this.#events += events;
    return true;
  }

  give(events: number): void {
    this.#events -= events;
  }
}
