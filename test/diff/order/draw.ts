import type { StepKind } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import type { StepDraft } from "../../gateway/plan-builder.ts"
import type { Random } from "../edits.ts"

/** Where a list of steps stands. */
export type Section = "inbound" | "backend" | "outbound" | "onError"

/** Names that belong to one route alone, so that routes beside it count and keep nothing for it. */
export interface Lane {
  readonly name: string
  /** URL of the service that requests of our own go to. */
  readonly service: string
}

/** A text that is an expression. */
export const cel = (text: string): Text => ({ text: [{ expression: { lang: "cel", text, type: "string" } }] })

const requestTexts = [
  "request.ip",
  'request.header("x-a")',
  'request.header("x-b")',
  'request.query("role")',
  'request.cookie("c")',
  "query.a",
  "request.path",
  "jwt.sub",
  "string(var.v)",
  'has(var.v) ? string(var.v) : "none"',
  'has(jwt.sub) ? string(jwt.sub) : "nobody"',
  "string(request.body.k)",
  "request.text",
]
const responseTexts = [
  'response.header("x-b")',
  "string(response.status)",
  "response.reason",
  "response.text",
  "string(response.body.k)",
]
const requestTests = [
  'request.header("x-a") == "1"',
  'request.header("x-b") != "2"',
  'request.query("role") == "admin"',
  'has(var.v) && var.v == "1"',
  'has(jwt.sub) && jwt.sub == "ann"',
  "has(subscription.name)",
  'query.a == "1"',
  'request.text.contains("hidden")',
  'request.method == "POST"',
]
const responseTests = [
  "response.status == 404",
  'response.header("x-b") == "2"',
  'response.text.contains("public")',
  "response.body.k == 1",
]

/** Draws what steps are made of from few names, so that two steps often meet. */
export class Draw {
  readonly draftOf: (kind: StepKind, draw: Draw) => StepDraft
  readonly random: Random
  readonly section: Section
  readonly lane: Lane

  constructor(
    random: Random,
    section: Section,
    lane: Lane,
    draftOf: (kind: StepKind, draw: Draw) => StepDraft,
  ) {
    this.draftOf = draftOf
    this.random = random
    this.section = section
    this.lane = lane
  }

  one<T>(...items: readonly T[]): T {
    return items[this.random(items.length)] as T
  }

  maybe(): boolean {
    return this.random(2) === 0
  }

  get hasResponse(): boolean {
    return this.section === "outbound" || this.section === "onError"
  }

  get expression(): string {
    return this.one(...requestTexts, ...(this.hasResponse ? [...responseTexts, ...responseTexts] : []))
  }

  get test(): string {
    return this.one(...requestTests, ...(this.hasResponse ? [...responseTests, ...responseTests] : []))
  }

  get text(): Text {
    return this.random(3) > 0 ? this.one("1", "2", "hidden", "public") : cel(this.expression)
  }

  get message(): "request" | "response" {
    return this.hasResponse && this.random(4) > 0 ? "response" : "request"
  }

  get variable(): string {
    return this.one("v", "w")
  }

  /** A small step that may stand inside of others. */
  get small(): StepDraft {
    const kinds = ["set-header", "set-variable", "set-query", "check-header", "respond", "trace"] as const
    return this.draftOf(this.one(...kinds), this)
  }
}

/** Draws a step of one kind. */
export type Drafting<Kind extends StepKind> = (draw: Draw) => Extract<StepDraft, { kind: Kind }>
