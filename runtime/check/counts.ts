/** Work on questions about one store since the process started. The numbers only grow. */
export class StoreCounts {
  questions = 0
  /** Steps of all questions (`EngineWork.steps`), also of those that ended without an answer. */
  steps = 0
  /** Questions that did not end in their first turn of the event loop: they were long, or waited for pages. */
  suspended = 0
  /** Pages that questions used, and those of them that they had to read from the database. */
  pagesUsed = 0
  pagesRead = 0
  /** Conditions that were read without a value that they need, and conditions that failed with the values they had. */
  conditionsMissing = 0
  conditionsFailed = 0
}

/** The work on one question, for logs. Made by the caller, who reads it after the answer. */
export class QuestionWork {
  steps = 0
  /** Pages that it used, without those that stay in memory as a whole store; those of them that were read from the database. */
  pagesUsed = 0
  pagesRead = 0
  /** The reads that it waited for, in order. Undefined: they are not recorded. */
  reads: PagesRead[] | undefined
}

/** A wait for pages of the database, perhaps together with other questions. Times by the engine's clock, in milliseconds. */
export interface PagesRead {
  readonly started: number
  readonly ended: number
  readonly pages: number
  /** Tuples in them. */
  readonly rows: number
}

/** Counts work that has ended, or starts again on other data. */
export function countSteps(steps: number, counts: StoreCounts, work: QuestionWork | undefined): void {
  counts.steps += steps
  if (work !== undefined) work.steps += steps
}
