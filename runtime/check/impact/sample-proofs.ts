import type { ImpactRow, UserGroup } from "../access-change.ts"
import { explain } from "../explain.ts"
import { explanationText } from "../explain-text.ts"
import type { Graph } from "../graph/graph.ts"
import type { LoadedModel } from "../loaded-model.ts"
import { CheckError, type Explanation, type NearestMiss } from "../ports.ts"

/** Steps for one answer with its reasons: some ten milliseconds. */
const stepsMax = 50_000
/** Remedies of a lost access. */
const lossMissesMax = 3

/** The answer of one model about a sample. */
export interface SampleAnswer {
  /** Null: a condition decides, or the check fails. */
  readonly allowed: boolean | null
  /**
   * The proof, or what excludes the user, or the error; for a lost access also the nearest tuples that would give it back. Lines with two
   * spaces per level. Empty when nothing grants it, and no tuple could.
   */
  readonly reasons: readonly string[]
}

/** A changed access with the answers of both models. */
export interface AccessSample extends ImpactRow {
  /** All its users have the change, by this set. */
  readonly group?: UserGroup | undefined
  readonly before: SampleAnswer
  readonly after: SampleAnswer
}

/** What both models are asked about samples. */
export interface SampleTerms {
  readonly graph: Graph
  readonly models: readonly [LoadedModel, LoadedModel]
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly depthMax: number
}

/**
 * Asks both models about a sample, by the evaluator that answers checks. So a wrong result of the comparison does not pass.
 * @throws Error when a check contradicts the comparison
 */
export function sampleOf(row: ImpactRow, terms: SampleTerms): AccessSample {
  // Who loses an access needs to know what would give it back.
  const missesMax = row.change === "loses" || row.change === "may-lose" ? lossMissesMax : 0
  const [old, next] = terms.models
  const [before, after] = [answerOf(old, row, terms, 0), answerOf(next, row, terms, missesMax)]
  const isRight =
    row.change === "gains"
      ? before.allowed !== true && after.allowed !== false
      : row.change === "loses"
        ? before.allowed !== false && after.allowed !== true
        : true
  if (!isRight)
    throw new Error(
      `a check contradicts the comparison: ${JSON.stringify({ row, before: before.allowed, after: after.allowed })}`,
    )
  return { ...row, before, after }
}

function answerOf(
  model: LoadedModel,
  { user, relation: name, object }: ImpactRow,
  { graph, context, depthMax }: SampleTerms,
  missesMax: number,
): SampleAnswer {
  const relation = name.slice(name.indexOf("#") + 1)
  const type = object.slice(0, object.indexOf(":"))
  const userType = user.slice(0, user.indexOf(":"))
  const [, setRelation] = user.split("#")
  const isKnown =
    model.types.has(userType) &&
    (setRelation === undefined || model.relationIndex(userType, setRelation) >= 0)
  if (model.relationIndex(type, relation) < 0 || !isKnown) return { allowed: false, reasons: [] }
  const bounds = { depthMax, stepsMax, walkSteps: 256, stepsPerLook: 128, partialConditions: false }
  const work = explain(model, { user, relation, object, context, explain: true, ternary: true }, bounds)
  try {
    work.begin({ graph })
    while (work.run(() => false).kind === "suspended");
    const { explanation, missingContext } = work.answer(graph.at)
    const allowed = missingContext === undefined ? explanation?.allowed === true : null
    if (explanation === undefined) return { allowed, reasons: [] }
    return { allowed, reasons: reasonsOf(explanation, explanation.misses?.slice(0, missesMax) ?? []) }
  } catch (error) {
    if (error instanceof CheckError) return { allowed: null, reasons: [error.message] }
    throw error
  } finally {
    work.release()
  }
}

/** Without the verdict, and with these of the remedies only. */
function reasonsOf(explanation: Explanation, misses: readonly NearestMiss[]): string[] {
  const lines = explanationText({ ...explanation, misses, complete: true }).split("\n")
  return lines.slice(1, -1).map((line) => line.replace(/^ {2}/, ""))
}
