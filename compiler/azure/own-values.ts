import { fieldsOfBody } from "../../runtime/plan/places.ts"
import type { BodyContent, CredentialSource } from "../../runtime/plan/step-values.ts"
import {
  factsOf,
  isCredential,
  kindFacts,
  type Step,
  type StepKind,
  type StepOf,
  shownTo,
} from "../../runtime/plan/steps.ts"
import { isCallers, type Own, ownerOf, ownSource } from "./callers-value.ts"

/** Records which parts of a request are the document's own after a step. */
class Marks {
  readonly own: Map<string, string>
  readonly #origin: string

  constructor(own: Own, origin: string) {
    this.own = new Map(own)
    this.#origin = origin
  }

  put(place: string | undefined, callers = false): void {
    if (place === undefined) return
    if (callers) this.own.delete(place)
    else this.own.set(place, this.#origin)
  }

  variable(name: string | undefined, callers = false): void {
    this.put(name === undefined ? undefined : `variable ${name}`, callers)
  }
}

type Effect<Kind extends StepKind> = (step: StepOf<Kind>, marks: Marks) => void

const nothing = (): void => undefined

/** Step kinds for which facts are not enough: the value they write may be the caller's, or they leave the caller's value in place. */
const effects: { readonly [Kind in StepKind]?: Effect<Kind> } = {
  "set-header": (step, marks) => {
    if (step.message === "request") setLines("header", step, marks)
  },
  "set-query": (step, marks) => setLines("query", step, marks),
  rewrite: ({ path, raw }, marks) => {
    const callers = isCallers(path, marks.own)
    marks.put("path", callers)
    const bringsQuery = raw || JSON.stringify(path).includes("?")
    if (bringsQuery && !callers) marks.put("query *")
  },
  "set-host": nothing,
  "set-body": ({ message, content }, marks) => {
    if (message === "request") marks.put("body", isCallersBody(content, marks.own))
  },
  "xml-to-json": nothing,
  "json-to-xml": nothing,
  "set-variable": ({ name, value }, marks) => marks.variable(name, isCallers(value, marks.own)),
}

/** What a step writes that a later guard could read: variables, and for a step that changes messages also the parts of the request. */
function markWritten(step: Step, marks: Marks): void {
  const isChange = kindFacts(step.kind).role === "change"
  for (const place of factsOf(step).writes ?? []) {
    const [part, name] = place.split(":", 2) as [string, string | undefined]
    if (part === "variable") marks.variable(name)
    else if (isChange && part === "request.header" && !describesBody.has(name ?? ""))
      marks.put(`header ${name}`)
    else if (isChange && part === "request.query") marks.put(`query ${name}`)
    else if (isChange && part === "request.body") marks.put("body")
  }
}

/** Headers that describe the body. No guard reads them. */
const describesBody: ReadonlySet<string> = new Set([...fieldsOfBody.request, "content-type"])

function isCallersBody(content: BodyContent, own: Own): boolean {
  if ("text" in content) return isCallers(content.text, own)
  return "value" in content && isCallers({ expression: content.value }, own)
}

/**
 * A step that adds a value marks the whole header, even if the caller's values stay next to it: a caller who sends none would pass with the
 * step's value alone.
 */
function setLines(
  kind: "header" | "query",
  { name, action, values }: Pick<StepOf<"set-header">, "name" | "action" | "values">,
  marks: Marks,
): void {
  const place = typeof name === "string" ? `${kind} ${name.toLowerCase()}` : `${kind} *`
  const callers = values.every((value) => isCallers(value, marks.own))
  const replaces = action === "set" || action === "remove"
  if (!callers) marks.put(place)
  else if (replaces && typeof name === "string") marks.put(place, true)
}

/** The parts that are the document's own after a step, when `own` were before it. `origin`: the step's place in the text. */
export function ownBehind(step: Step, own: Own, origin: string): Own {
  const marks = new Marks(own, origin)
  const effect = effects[step.kind] as Effect<StepKind> | undefined
  if (effect === undefined) markWritten(step, marks)
  else effect(step as never, marks)
  return marks.own
}

/** The place of the step that supplied the credential a guard judges. Undefined when the caller supplied it, and for a step that is not a guard. */
export function ownCredential(step: Step, own: Own, origin: string): string | undefined {
  if (step.kind === "check-header") return ownerOf(own, `header ${step.name}`)
  if (!isCredential(step)) return undefined
  const shown = shownTo(step)
  if (shown.is === "token") return ownFrom(shown.from, own, origin)
  if (shown.is === "password") return ownerOf(own, "header authorization")
  if (shown.is === "certificate") return undefined
  if (shown.is === "signature" || shown.is === "session") return undefined
  const { header, query } = shown
  const ofHeader = header === null ? undefined : ownerOf(own, `header ${header}`)
  return ofHeader ?? (query === null ? undefined : ownerOf(own, `query ${query.toLowerCase()}`))
}

function ownFrom(from: CredentialSource, own: Own, origin: string): string | undefined {
  if ("header" in from) return ownerOf(own, `header ${from.header}`)
  if ("query" in from) return ownerOf(own, `query ${from.query.toLowerCase()}`)
  if ("cookie" in from) return ownerOf(own, "header cookie")
  return ownSource(from.text, own, origin)
}
