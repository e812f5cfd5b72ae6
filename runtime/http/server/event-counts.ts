/** How often each event has happened since the process started. */
export class EventCounts<Event extends string> {
  readonly #counts = new Map<Event, number>()

  readonly count = (event: Event): void => {
    this.#counts.set(event, (this.#counts.get(event) ?? 0) + 1)
  }

  get counts(): ReadonlyMap<Event, number> {
    return this.#counts
  }
}
