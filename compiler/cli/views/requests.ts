import { resolve } from "node:path"
import type { RequestComparison } from "../../request-compare/compare-requests.ts"
import type { Io } from "../io.ts"
import type { LocatedPlan } from "../located-plan.ts"
import { writeOutputFile } from "../output-file.ts"

/** What is printed of a comparison of requests. */
export interface RequestOutput {
  readonly isText: boolean
  /** A file for the whole comparison as JSON. */
  readonly file: string | undefined
}

/**
 * Compares what becomes of requests, and prints it as text. A plan that needs a file or a variable that is missing here cannot run here, which is said.
 */
export async function showRequests(
  io: Io,
  { before, after }: { readonly before: LocatedPlan; readonly after: LocatedPlan },
  { isText, file }: RequestOutput,
): Promise<void> {
  if (before.plan.digest === after.plan.digest || (!isText && file === undefined)) return
  const { requestsJson, requestsText } = await import("../../render/requests.ts")
  const comparison = await compared(io, before, after)
  if (typeof comparison === "string") {
    if (isText) io.out(`\nRequests were not compared: ${comparison}\n`)
    return
  }
  const text = requestsText(comparison, { colour: io.colour.out })
  if (isText && text !== "") io.out(`\n${text}`)
  if (file !== undefined) writeOutputFile(io, file, requestsJson(comparison), "the comparison of requests")
}

/** The comparison; a text says why the plans cannot be compared here. */
async function compared(
  io: Io,
  before: LocatedPlan,
  after: LocatedPlan,
): Promise<RequestComparison | string> {
  const { compareRequests } = await import("../../request-compare/compare-requests.ts")
  const located = ({ plan, folder }: LocatedPlan) => ({
    plan,
    environment: io.env,
    folder: resolve(io.cwd, folder),
  })
  return compareRequests({ before: located(before), after: located(after) })
}
