import type { RequestPlace } from "../../runtime/expression/request-context.ts"
import type { Backend } from "../../runtime/plan/resources.ts"
import type { Step, StepId } from "../../runtime/plan/steps.ts"
import type { Report, Reported } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"
import type { Operation } from "../openapi/api-document.ts"
import type { Schemas } from "../openapi/schema.ts"
import type { WrittenExpression } from "./ast.ts"
import type { BoundStatement } from "./bind/bound.ts"
import type { DeclarationKind } from "./schema/row.ts"

/** Bodies of a media type that are not checked against their schema. */
export interface Unjudged {
  readonly schemas: Schemas
  readonly span: Span
  readonly detail: string
}

/** An operation that demands security which gateway.conf does not map to `auth`. */
export interface Unmet {
  /** The `openapi` statement that names the document. */
  readonly statement: BoundStatement
  readonly operation: Operation
  /** Key of the route. */
  readonly route: string
}

/** What checking and lowering a part of the text adds to, besides findings. Adding the same twice changes nothing. */
export interface Additions {
  readonly program: {
    use(kind: DeclarationKind, name: string): void
    misname(kind: DeclarationKind): void
    spendHint(): void
  }
  readonly values: { need(name: string): void; needSecret(name: string): void }
  readonly steps: { put(id: StepId, step: Step): void }
  readonly backends: {
    useDeclared(name: string): boolean
    addInline(name: string, backend: Backend, span: Span): void
  }
  readonly expressions: { see(node: WrittenExpression, context: RequestPlace): void }
  readonly validation: { tellUnjudged(each: Unjudged): void }
  readonly describedAuth: { tellUnmet(each: Unmet): void }
}

type Addition = (to: Additions) => void

/** What a part added, with what the parts inside it added. */
export interface PartRecording {
  readonly findings: readonly Reported[]
  readonly additions: Addition[]
  readonly inner: PartRecording[]
}

/** A result with what making it added; `recording` only if there is a recorder. */
export interface Recorded<Value> {
  readonly value: Value
  readonly recording: PartRecording | undefined
}

/** Records what parts of a compilation add to the whole, so that a later compilation can add it without making the part again. */
export class PartRecorder {
  readonly #report: Report
  readonly #open: PartRecording[] = []

  constructor(report: Report) {
    this.#report = report
  }

  /** Notes an addition of the part that is being made. */
  note(addition: Addition): void {
    this.#open.at(-1)?.additions.push(addition)
  }

  /** Makes a part and records what it adds. It counts for the part around it, too. */
  run<Value>(make: () => Value): { readonly value: Value; readonly recording: PartRecording } {
    const findings: Reported[] = []
    const recording: PartRecording = { findings, additions: [], inner: [] }
    const before = this.#report.reported.length
    this.#open.at(-1)?.inner.push(recording)
    this.#open.push(recording)
    const value = make()
    this.#open.pop()
    findings.push(...this.#report.reported.slice(before))
    return { value, recording }
  }

  /** Counts what was added before for the part that is being made, which uses the result of it. */
  include(recording: PartRecording): void {
    this.#open.at(-1)?.inner.push(recording)
  }
}

/** Makes a result that several parts use. */
export function recorded<Value>(recorder: PartRecorder | undefined, make: () => Value): Recorded<Value> {
  return recorder === undefined ? { value: make(), recording: undefined } : recorder.run(make)
}

/** The result for another part. */
export function used<Value>(
  recorder: PartRecorder | undefined,
  { value, recording }: Recorded<Value>,
): Value {
  if (recording !== undefined) recorder?.include(recording)
  return value
}

/** All findings and additions of a part, each once. */
export function everythingIn(recording: PartRecording): {
  readonly findings: readonly Reported[]
  readonly additions: readonly Addition[]
} {
  const seen = new Set<PartRecording>()
  const findings = new Set<Reported>()
  const additions: Addition[] = []
  const visit = (part: PartRecording): void => {
    if (seen.has(part)) return
    seen.add(part)
    for (const each of part.inner) visit(each)
    additions.push(...part.additions)
    for (const each of part.findings) findings.add(each)
  }
  visit(recording)
  return { findings: [...findings], additions }
}
