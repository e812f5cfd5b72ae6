import { type Checked, checkExpression } from "../../../runtime/expression/compile.ts"
import type { ExpressionFinding, VariableReference } from "../../../runtime/expression/finding.ts"
import type { RequestPlace } from "../../../runtime/expression/request-context.ts"
import type { CelType } from "../../../runtime/expression/types.ts"
import type { Expression } from "../../../runtime/plan/text.ts"
import type { DiagnosticCode } from "../../core/catalogue.ts"
import type { Extra, Report } from "../../core/diagnostic.ts"
import { didYouMean } from "../../core/nearest.ts"
import { tellOdd } from "../../core/odd-characters.ts"
import type { WrittenExpression } from "../ast.ts"
import type { Program } from "../program.ts"
import { type Recorded, recorded, used } from "../recorder.ts"
import { listed } from "../schema/slots.ts"
import { placeExpression } from "./expression-places.ts"
import { asksForCaller, brings, providers, type StatementPlace, wordOf } from "./place.ts"
import type { Values } from "./values.ts"

/** Checks expressions in the context of their place. Each is checked once per place and type. */
export class Expressions {
  readonly #program: Program
  readonly #values: Values
  readonly #report: Report
  readonly #lowered = new WeakMap<WrittenExpression, Map<string, Recorded<Expression | undefined>>>()
  /** Cached by text, because routes repeat the same expressions (`path.id`, `jwt.sub`). */
  readonly #checked = new Map<string, Checked>()
  readonly #contexts = new Map<WrittenExpression, Set<RequestPlace>>()

  constructor(program: Program, values: Values, report: Report) {
    this.#program = program
    this.#values = values
    this.#report = report
  }

  /** The expression for the plan; undefined when it is invalid (reported). */
  lower(node: WrittenExpression, place: StatementPlace, expected?: CelType): Expression | undefined {
    let known = this.#lowered.get(node)
    if (known === undefined) {
      known = new Map()
      this.#lowered.set(node, known)
    }
    // The expected type is part of the key: one text can be valid as a text and invalid as a condition.
    const key = `${expected ?? ""}|${place.key}`
    const { recorder } = this.#program
    const before = known.get(key)
    if (before !== undefined) return used(recorder, before)
    const made = recorded(recorder, () => {
      this.see(node, place.context)
      return this.#lower(node, place, expected)
    })
    known.set(key, made)
    return made.value
  }

  /** For editors: what each expression can name in the places where it runs. Empty in a compilation that nobody edits. */
  get contexts(): ReadonlyMap<WrittenExpression, ReadonlySet<RequestPlace>> {
    return this.#contexts
  }

  /** Records a place of an expression. */
  see(node: WrittenExpression, context: RequestPlace): void {
    const { recorder } = this.#program
    if (recorder === undefined) return
    recorder.note(({ expressions }) => expressions.see(node, context))
    const known = this.#contexts.get(node)
    if (known === undefined) this.#contexts.set(node, new Set([context]))
    else known.add(context)
  }

  /** The variables that an expression reads: `jwt` for `jwt.sub`. Empty if the expression is invalid. */
  variables(node: WrittenExpression, place: StatementPlace): readonly string[] {
    const checked = this.#check(node.source, place, undefined)
    return checked.ok ? [...new Set(checked.references.flatMap(({ path }) => path.slice(0, 1)))] : []
  }

  /** Whether a source names a variable of its place and its value can be converted to text. */
  isInsertable(source: string, place: StatementPlace): boolean {
    const checked = this.#check(source, place, undefined)
    return checked.ok && checked.references.length > 0 && hasText(checked.type)
  }

  /** Checks an expression once for all places with equal names; policies are lowered for many routes. */
  #check(source: string, place: StatementPlace, expected: CelType | undefined): Checked {
    const key = `${expected ?? ""}|${place.key}|${source}`
    let checked = this.#checked.get(key)
    if (checked === undefined) {
      checked = checkExpression(source, place.environment(), expected)
      // Failed checks are not cached: their findings list all possible names, and there may be thousands of them.
      if (checked.ok) this.#checked.set(key, checked)
    }
    return checked
  }

  /**
   * Lowers an expression and marks the values it reads as needed. An expression that reads a broken value is left out without a finding of
   * its own.
   */
  #lower(
    node: WrittenExpression,
    place: StatementPlace,
    expected: CelType | undefined,
  ): Expression | undefined {
    const checked = this.#check(node.source, place, expected)
    // A failed check is repeated only where the expression stands in another place.
    if (!checked.ok) {
      for (const finding of checked.findings) this.#reportFinding(finding, node, place)
      return undefined
    }
    const secrets = new Set<string>()
    for (const { path } of checked.references) {
      const [first] = path
      const declared = first === undefined ? undefined : this.#program.find("value", first)
      if (declared?.kind === "secret") secrets.add(declared.name)
      if (declared?.kind !== "value") continue
      if (this.#values.state(declared) === "broken") return undefined
      this.#values.need(declared.name)
    }
    this.#checkCertain(node, checked.references, place)
    for (const name of secrets) this.#values.needSecret(name)
    const keys = [...secrets].sort().map((secret) => ({ secret }))
    const expression: Expression = {
      ...{ lang: "cel", text: node.source.trim(), type: checked.type },
      ...(keys.length === 0 ? {} : { secrets: keys }),
    }
    const { file, start } = node.span
    // A runtime failure points to the first character of the expression, not to the blanks before it.
    const from = start + node.source.length - node.source.trimStart().length
    placeExpression(expression, file.span(from, from))
    return expression
  }

  /** Warns about `jwt.x` where callers can also authenticate without a token: reading it would fail with a 500. */
  #checkCertain(
    node: WrittenExpression,
    references: readonly VariableReference[],
    place: StatementPlace,
  ): void {
    // `place.asked`: a question about the caller is checked more strictly elsewhere (`lower/question.ts`).
    if (place.asked || place.auth.ways.length < 2 || asksForCaller(node.source)) return
    for (const { path, start, end } of references) {
      const [name = ""] = path
      const lacking = Object.hasOwn(providers, name) && place.auth.ways.find((way) => !brings(way, name))
      if (!lacking) continue
      const { file, start: from } = node.span
      this.#report.add(
        "SP5016",
        { file, start: from + start, end: from + end },
        `callers that use \`auth ${wordOf(lacking)}\` have no \`${name}\`: their requests would get 500`,
        {
          related:
            place.auth.span === undefined
              ? []
              : [{ span: place.auth.span, message: "the `auth` of the route" }],
        },
      )
    }
  }

  /** Findings of CEL with the code of their kind. A name that exists in other places gets a finding that says where. */
  #reportFinding(finding: ExpressionFinding, node: WrittenExpression, place: StatementPlace): void {
    const { file, start } = node.span
    const span = { file, start: start + finding.start, end: start + finding.end }
    const special = this.#special(finding, node, place)
    if (special === "excused") return
    if (special !== undefined) {
      this.#report.add(special.code, span, special.detail, special.extra)
      return
    }
    const unknown = finding.kind === "unknown-name" || finding.kind === "unknown-field"
    // Unknown names have a code of their own, because their help is a list of names.
    const code = unknown
      ? "SP5003"
      : finding.kind === "syntax" || finding.kind === "limit"
        ? "SP5002"
        : "SP5001"
    const hint = finding.name === undefined ? "" : this.#program.hint(finding.name, finding.candidates ?? [])
    this.#report.add(code, span, `${finding.message}${hint}`)
  }

  /** Findings for which the place allows a better message. */
  #special(
    finding: ExpressionFinding,
    node: WrittenExpression,
    place: StatementPlace,
  ): Special | "excused" | undefined {
    const { kind, name } = finding
    // A character that only looks like an operator, e.g. a typographic quote.
    const odd = kind === "syntax" ? tellOdd(node.source, finding.start) : undefined
    if (odd !== undefined) return { code: "SP5002", detail: odd.detail, extra: { help: odd.help } }
    if (kind === "secret") return { code: "SP5008", detail: finding.message }
    if (name === undefined) return undefined
    if (kind === "unknown-name") {
      if (this.#program.excused(["value", "secret"], name)) return "excused"
      const known = unknownHere(name, place)
      // A misspelt value would otherwise also be reported as unused.
      if (known === undefined) for (const each of ["value", "secret"] as const) this.#program.misname(each)
      return known
    }
    if (kind !== "unknown-field") return undefined
    // The object before the field, as it is written: `path.ordr` is a mistake about `path`.
    const object = /([A-Za-z_]\w*)\s*(?:\.|\[\s*["'])\s*$/.exec(
      node.source.slice(0, fieldStart(finding, node.source)),
    )?.[1]
    return object === undefined ? undefined : unknownField(object, name, place)
  }
}

/** Types that `${…}` can convert to text (runtime/expression's `toText`). */
export function hasText(type: string): boolean {
  return ["string", "bool", "int", "uint", "double", "timestamp", "duration", "dyn"].includes(type)
}

interface Special {
  readonly code: DiagnosticCode
  readonly detail: string
  readonly extra?: Extra
}

/** Why a known variable does not exist here, with the remedy. */
function unknownHere(name: string, place: StatementPlace): Special | undefined {
  const related =
    place.auth.span === undefined ? [] : [{ span: place.auth.span, message: "the `auth` of the route" }]
  if (name === "jwt") {
    const help = "Add `auth jwt ISSUER` for the routes this runs on, or remove `jwt`."
    return {
      code: "SP5004",
      detail: "no token is checked here, so there is no `jwt`",
      extra: { help, related },
    }
  }
  if (name === "subscription" || name === "product") {
    const help = `Add \`auth subscription\` for the routes this runs on, or remove \`${name}\`.`
    return {
      code: "SP5004",
      detail: `no key is checked here, so there is no \`${name}\``,
      extra: { help, related },
    }
  }
  if (name === "response" && place.section === "inbound") {
    return {
      code: "SP5004",
      detail: "there is no `response` yet",
      extra: { help: "Move the statement to `outbound`." },
    }
  }
  if (name === "item") {
    return {
      code: "SP5004",
      detail: "there is no `item` here",
      extra: { help: "Use `item` only in `filter`: it is an item of the filtered list." },
    }
  }
  if (name === "error") {
    return {
      code: "SP5004",
      detail: "`error` exists only in `on-error` sections",
      extra: { help: "Move the statement to `on-error`." },
    }
  }
  const full = fullName(name, place)
  return full === undefined
    ? undefined
    : { code: "SP5003", detail: `\`${name}\` is not known here; did you mean \`${full}\`?` }
}

/** The usual name of something that a request or its route brings, when its last part alone was written. */
function fullName(name: string, place: StatementPlace): string | undefined {
  if (place.pathParameters.includes(name)) return `path.${name}`
  if (name === "sub") return "jwt.sub"
  if (name === "body") return place.section === "inbound" ? "request.body" : "response.body"
  return undefined
}

/** Why a known object lacks this field, with the names it has. */
function unknownField(object: string, name: string, place: StatementPlace): Special | undefined {
  if (object === "path") {
    const known = place.pathParameters.map((each) => `\`${each}\``)
    const has = known.length === 0 ? "the path has no parameters" : `the path has ${listed(known, "and")}`
    const detail = `the route has no parameter \`${name}\`${didYouMean(name, place.pathParameters)}`
    return {
      code: "SP5004",
      detail,
      extra: {
        help: `Add \`{${name}}\` to the path, or correct the name: ${has}.`,
        related: [{ span: place.routeSpan, message: "the route" }],
      },
    }
  }
  if (object === "var") {
    const hint = didYouMean(name, Object.keys(place.variables))
    return { code: "SP5018", detail: `no statement before this one sets \`${name}\`${hint}` }
  }
  if (object !== "jwt") return undefined
  if (place.auth.ways.every(({ by, kind }) => by === "basic" || kind !== "jwt"))
    return {
      code: "SP5005",
      detail: `with \`auth basic\`, the only known claim is \`jwt.sub\``,
      extra: { help: "Use `jwt.sub`, or require a token with `auth jwt`." },
    }
  if (place.auth.ways.every(({ by, kind }) => by === "certificate" || kind !== "jwt"))
    return {
      code: "SP5005",
      detail: `\`auth certificate\` has no \`jwt.${name}\``,
      extra: { help: "Use `sub`, `iss`, `cn`, `dns`, `uri`, `email`, `ip` or `thumbprint`." },
    }
  if (place.auth.ways.every(({ by, kind }) => by === "hmac" || kind !== "jwt"))
    return {
      code: "SP5005",
      detail: "with `auth hmac`, the only known claim is `jwt.sub`",
      extra: { help: "Use `jwt.sub`, or require a token with `auth jwt`." },
    }
  const declared = place.auth.ways.flatMap(({ claims }) =>
    claims === undefined || claims === "any" ? [] : Object.keys(claims),
  )
  return { code: "SP5005", detail: `the issuer declares no claim \`${name}\`${didYouMean(name, declared)}` }
}

/** The offset of the field's name, because a finding can cover the whole `object.field`. */
function fieldStart({ start, end, name }: ExpressionFinding, source: string): number {
  const inside = source.slice(start, end).lastIndexOf(name ?? "")
  return inside < 0 ? start : start + inside
}
