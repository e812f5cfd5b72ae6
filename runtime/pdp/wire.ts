/** Subject or resource of a question; ids can be any text. */
export interface Entity {
  readonly type: string
  readonly id: string
  readonly properties?: Readonly<Record<string, unknown>> | undefined
}

/** An access evaluation request (AuthZEN Authorization API 1.0, section 6.1): its JSON is the body of the request. */
export interface AccessEvaluation {
  readonly subject: Entity
  readonly action: {
    readonly name: string
    readonly properties?: Readonly<Record<string, unknown>> | undefined
  }
  readonly resource: Entity
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/** A decision. `reason` is only for operators. `failed`: the decision point reported that it could not decide; this is not allowed and not cached. */
export interface PdpDecision {
  readonly allowed: boolean
  readonly reason?: string | undefined
  readonly failed?: true | undefined
}

const reasonMax = 500

/** Reads the body of an evaluation. Undefined: it contains no decision. */
export function decisionOf(json: unknown): PdpDecision | undefined {
  const fields = fieldsOf(json)
  const decision = fields?.["decision"]
  if (typeof decision !== "boolean") return undefined
  const context = fieldsOf(fields?.["context"])
  const reason = context === undefined ? undefined : reasonOf(context)
  return {
    allowed: decision,
    ...(reason === undefined ? {} : { reason }),
    ...(context?.["error"] === undefined ? {} : { failed: true }),
  }
}

/** Reads the body of `count` evaluations, in the order of the questions. Undefined: a decision is missing, or their number differs. */
export function decisionsOf(json: unknown, count: number): PdpDecision[] | undefined {
  const list = fieldsOf(json)?.["evaluations"]
  if (!Array.isArray(list) || list.length !== count) return undefined
  const decisions = list.map(decisionOf)
  return decisions.includes(undefined) ? undefined : decisions.filter((each) => each !== undefined)
}

/** The metadata of a decision point (section 9), as far as it is used here. */
export interface Metadata {
  readonly identifier: string
  readonly evaluation: string
  /** Undefined: it accepts only one question per request. */
  readonly evaluations: string | undefined
}

/** Reads a metadata document; undefined if it names no endpoint for evaluations. */
export function metadataOf(json: unknown): Metadata | undefined {
  const fields = fieldsOf(json)
  const identifier = fields?.["policy_decision_point"]
  const evaluation = fields?.["access_evaluation_endpoint"]
  const evaluations = fields?.["access_evaluations_endpoint"]
  if (typeof identifier !== "string" || typeof evaluation !== "string") return undefined
  return { identifier, evaluation, evaluations: typeof evaluations === "string" ? evaluations : undefined }
}

/** The reason of a decision. Texts for administrators come first, regardless of the language or status key. */
function reasonOf(context: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of ["reason_admin", "reason_user", "reason", "error"]) {
    const text = textOf(context[name])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a line of the log is one line.
    if (text !== "") return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").slice(0, reasonMax)
  }
  return undefined
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value
  return Object.values(fieldsOf(value) ?? {})
    .filter((each) => typeof each === "string" || typeof each === "number")
    .join("; ")
}

function fieldsOf(json: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof json === "object" && json !== null && !Array.isArray(json)
    ? (json as Record<string, unknown>)
    : undefined
}
