/** A volume that can be used up, as a plan has it. `periodSeconds` 0: once and for all. */
export interface QuotaTerms {
  readonly counter: string
  readonly callsMax: number | undefined
  readonly bytesMax: number | undefined
  readonly periodSeconds: number
}

/** Whether there is something left. `resetSeconds` null: there will never be more. */
export type QuotaAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly out: "calls" | "bytes"; readonly resetSeconds: number | null }

/** Durable counts of what was used, shared by all processes. Periods are counted from `anchorMs`. */
export interface QuotaCounters {
  /** Uses `calls` if there are so many left; 0 only looks. Calls of plans without `callsMax` are not counted. */
  take(terms: QuotaTerms, key: string, anchorMs: number, calls: number): QuotaAnswer | Promise<QuotaAnswer>
  /** What was used in the period; undefined: nobody can say. Nothing is used up by it. Absent: nobody ever can. */
  look?(
    terms: QuotaTerms,
    key: string,
    anchorMs: number,
  ): Promise<
    { readonly calls: number; readonly bytes: number; readonly resetSeconds: number | null } | undefined
  >
  /** Counts what was used already, whether it was left or not. */
  add(
    terms: QuotaTerms,
    key: string,
    anchorMs: number,
    used: { readonly calls: number; readonly bytes: number },
  ): void
}
