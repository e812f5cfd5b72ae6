import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { LoadText, Reference } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { TextArgument, Word } from "../ast.ts"
import { soleName } from "../bind/names.ts"
import type { Declaration, Program } from "../program.ts"

/**
 * The state of a named value: known now, known when the plan is loaded, or not understood (reported). `size` of a text includes all its
 * parts: values that repeat each other could otherwise exhaust the memory.
 */
export type ValueState =
  | { readonly constant: string }
  | { readonly from: Reference }
  | { readonly text: LoadText; readonly size: number }
  | "broken"

const valuesMax = 1000
const chainMax = 100
const sizeMax = 65_536

type LoadPart = string | { value: string }

/** Named values and secrets, and which of them the plan needs. */
export class Values {
  readonly #program: Program
  readonly #report: Report
  readonly #states = new Map<string, ValueState>()
  readonly #underWay: string[] = []
  readonly #needed = new Set<string>()
  readonly #secrets = new Set<string>()

  /** All values are computed at once, so that mistakes in unused ones are reported too. */
  constructor(program: Program, report: Report) {
    this.#program = program
    this.#report = report
    const tooMany = program.all("value")[valuesMax]
    if (tooMany !== undefined) {
      report.add(
        "SP3016",
        tooMany.span,
        `there are ${program.all("value").length} named values; the maximum is ${valuesMax}`,
      )
    }
    for (const each of program.all("value").slice(0, valuesMax)) this.state(each)
    for (const each of program.all("secret")) if (!each.bound.broken) this.#checkSecret(each)
  }

  /** Names that are variables of expressions, and those that are keys of `hmac`. */
  named(): { readonly values: readonly string[]; readonly secrets: readonly string[] } {
    const names = (kind: "value" | "secret") =>
      this.#program
        .all(kind)
        .slice(0, valuesMax)
        .map((each) => each.name)
    return { values: names("value"), secrets: names("secret") }
  }

  /** The state of a value, computed once. Values may refer to each other in any order, so cycles and long chains are found on the way. */
  state(declaration: Declaration): ValueState {
    const known = this.#states.get(declaration.name)
    if (known !== undefined) return known
    if (this.#underWay.includes(declaration.name)) {
      this.#reportCycle(declaration)
      return "broken"
    }
    if (this.#underWay.length >= chainMax) {
      this.#report.add("SP3016", declaration.span, `more than ${chainMax} values refer to one another`)
      return "broken"
    }
    this.#underWay.push(declaration.name)
    const state = this.#compute(declaration)
    this.#underWay.pop()
    this.#states.set(declaration.name, state)
    return state
  }

  /**
   * Text of constants and named values. Undefined when it is something else (reported) or uses a broken value. `problem` says why a secret
   * is not allowed here.
   */
  loadText(argument: TextArgument | Word): LoadText | undefined {
    const parts: LoadPart[] = []
    let complete = true
    const add = (part: LoadPart | undefined): void => {
      const last = parts.at(-1)
      if (part === undefined) complete = false
      else if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part
      else if (part !== "") parts.push(part)
    }
    if (argument.kind === "word") add(this.#part(argument.text, argument.span))
    else {
      for (const part of argument.parts) {
        if (part.kind === "literal") add(part.value)
        else add(this.#expressionPart(part.source, part.span))
      }
    }
    if (!complete) return undefined
    const [first] = parts
    if (parts.length === 0) return ""
    return parts.length === 1 && typeof first === "string" ? first : { text: parts }
  }

  /**
   * The text with the defaults of env() for values that are not known yet; undefined parts have no default. Only for checks of the form.
   */
  preview(text: LoadText): (string | undefined)[] {
    if (typeof text === "string") return [text]
    return text.text.flatMap((part) => {
      if (typeof part === "string") return [part]
      const declared = this.#program.find("value", part.value)
      const state = declared === undefined ? "broken" : this.state(declared)
      if (state === "broken") return [undefined]
      if ("constant" in state) return [state.constant]
      if ("text" in state) return this.preview(state.text)
      return ["default" in state.from ? state.from.default : undefined]
    })
  }

  /** Adds a value, and the values it is made of, to the plan. */
  need(name: string): void {
    this.#program.recorder?.note(({ values }) => values.need(name))
    if (this.#needed.has(name)) return
    this.#needed.add(name)
    const declared = this.#program.find("value", name)
    const state = declared === undefined ? "broken" : this.state(declared)
    if (state !== "broken" && "text" in state) this.needIn(state.text)
  }

  /** Adds the values that a part of the plan refers to. */
  needIn(part: unknown): void {
    if (typeof part !== "object" || part === null) return
    if ("value" in part && typeof part.value === "string") this.need(part.value)
    for (const inner of Object.values(part)) this.needIn(inner)
  }

  needSecret(name: string): void {
    this.#program.recorder?.note(({ values }) => values.needSecret(name))
    this.#secrets.add(name)
  }

  /** The plan's tables of values and secrets. */
  tables(): Pick<PlanBody, "values" | "secrets"> {
    const values: PlanBody["values"] = {}
    for (const name of [...this.#needed].sort()) {
      const state = this.#states.get(name)
      if (state === undefined || state === "broken") continue
      if ("from" in state) values[name] = { from: state.from }
      else values[name] = { text: "constant" in state ? state.constant : state.text }
    }
    const secrets: PlanBody["secrets"] = {}
    for (const name of [...this.#secrets].sort()) {
      const reference = this.#program.find("secret", name)?.bound.args.value<Reference>("outside")
      if (reference !== undefined) secrets[name] = reference
    }
    return { values, secrets }
  }

  /**
   * A value: from outside, a constant, or a text with parts that are known when the plan is loaded. The size is limited, because values
   * that insert each other can grow exponentially.
   */
  #compute({ bound }: Declaration): ValueState {
    if (bound.broken) return "broken"
    const from = bound.args.value<Reference>("outside")
    if (from !== undefined) return { from }
    const argument = bound.args.text("text")
    const text = argument === undefined ? undefined : this.loadText(argument)
    if (text === undefined) return "broken"
    const size = this.#sizeOf(text)
    if (size > sizeMax) {
      this.#report.add(
        "SP3016",
        bound.statement.keyword.span,
        `the value would have ${size} characters or parts; the maximum is ${sizeMax}`,
      )
      return "broken"
    }
    return typeof text === "string" ? { constant: text } : { text, size }
  }

  #sizeOf(text: LoadText): number {
    if (typeof text === "string") return text.length
    return text.text.reduce((size, part) => {
      if (typeof part === "string") return size + part.length
      const state = this.#states.get(part.value)
      return size + (state !== undefined && state !== "broken" && "size" in state ? state.size : 1)
    }, 0)
  }

  /** A part of a value can be only another value. */
  #expressionPart(source: string, span: Span): LoadPart | undefined {
    const name = soleName(source)
    // Undeclared names are already reported by `checkNames`.
    if (name !== undefined) return this.#part(name, span)
    this.#report.add(
      "SP2031",
      span,
      "the expression reads a request, but named values are computed before any request",
    )
    return undefined
  }

  /** A named value as part of a text. Undeclared names are already reported by `checkNames`. */
  #part(name: string, span: Span): LoadPart | undefined {
    const declared = this.#program.find("value", name)
    if (declared === undefined) return undefined
    if (declared.kind === "secret") {
      this.#report.add("SP3013", span, `the secret \`${name}\` cannot be part of this string`)
      return undefined
    }
    const state = this.state(declared)
    if (state === "broken") return undefined
    return "constant" in state ? state.constant : { value: name }
  }

  /** A secret in the text, or as a default, would be stored in git and in every plan. */
  #checkSecret({ bound, name }: Declaration): void {
    const literal = bound.args.get("literal")
    if (literal !== undefined) {
      this.#report.add(
        "SP2033",
        literal.argument.span,
        `the secret \`${name}\` is written here in plain text`,
      )
      return
    }
    const call = bound.args.call("outside")
    const reference = bound.args.value<Reference>("outside")
    if (call === undefined || reference === undefined || !("default" in reference)) return
    this.#report.add("SP2033", call.span, "a secret cannot have a default: it would be stored in git", {
      help: "Remove the default.",
    })
  }

  #reportCycle(declaration: Declaration): void {
    const circle = [...this.#underWay.slice(this.#underWay.indexOf(declaration.name)), declaration.name]
    this.#report.add(
      "SP2015",
      declaration.span,
      `the value refers to itself:  ${circle.map((name) => `\`${name}\``).join(" → ")}`,
    )
  }
}
