import type { Explanation } from "../../runtime/check/ports.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { placesOf } from "./step-uses.ts"

/** Header lines in their order. */
type Fields = readonly (readonly [string, string])[]

/** Everything that became of a request, as JSON. Bodies are text. */
export interface PassageDocument {
  readonly response: { readonly status: number; readonly headers: Fields; readonly body: string }
  /** Key of the route; absent: no route matched. */
  readonly route: string | undefined
  readonly problem: string | undefined
  readonly reason: string | undefined
  readonly cause: string | undefined
  readonly answered_by: Passage["finished"]["answeredBy"]
  readonly steps: readonly {
    readonly kind: string
    readonly outcome: Passage["steps"][number]["outcome"]
    /** `gateway.conf:41` */
    readonly places: readonly string[]
  }[]
  /** What backends got, and what they did. */
  readonly sent: readonly (Omit<Passage["sent"][number], "body" | "answer"> & {
    readonly body: string
    readonly answer: { readonly failure: string } | { readonly status: number }
  })[]
  readonly limits: Passage["limits"]
  readonly decisions: readonly (Omit<Passage["decisions"][number], "explain" | "allowedBy"> & {
    readonly explanation: Explanation | undefined
  })[]
  readonly changes: Passage["changes"]
}

/** See `PassageDocument`. */
export async function passageDocument(passage: Passage, plan: Plan): Promise<PassageDocument> {
  const { response, finished, sent, steps, limits, decisions, changes } = passage
  const places = placesOf(plan, finished.route)
  const explained = []
  for (const { explain, allowedBy: _, ...decision } of decisions)
    explained.push({ ...decision, explanation: await explain() })
  return {
    response: { status: response.status, headers: response.headers, body: response.body.toString("utf8") },
    ...{ route: finished.route, problem: finished.problem, reason: finished.reason, cause: finished.cause },
    answered_by: finished.answeredBy,
    steps: steps.map(({ id, kind, outcome }) => ({
      ...{ kind, outcome, places: [...new Set((places.get(id) ?? []).map(({ place }) => place))] },
    })),
    sent: sent.map(({ body, answer, ...request }) => ({
      ...request,
      body: body.toString("utf8"),
      answer: "failure" in answer ? { failure: answer.failure } : { status: answer.status },
    })),
    ...{ limits, decisions: explained, changes },
  }
}
