import { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { Argument, Call, Document, Statement, TextArgument, Word } from "../ast.ts"
import { literalSlots } from "../schema/findings.ts"
import type { Slot, SlotKind } from "../schema/row.ts"
import { slotKinds } from "../schema/slots.ts"
import { soleName } from "./names.ts"
import { readOutside } from "./outside.ts"
import { readArgument } from "./read.ts"

/** The kinds of literals that a named value can stand for. Other words are names or keywords themselves. */
const literalKinds: ReadonlySet<SlotKind> = new Set(literalSlots)

/** The kinds of strings that the compiler reads itself. Others keep their `${…}` until the plan is loaded, or until a request comes. */
const constantKinds: ReadonlySet<SlotKind> = new Set([
  ...(["constant", "host", "path", "header-name", "query-name", "file", "outside"] as const),
])

/** Literals, and the environment variable that can replace them when the plan is loaded. */
interface ReadLiterals {
  readonly values: readonly unknown[]
  /** They come from a value, by its name. */
  readonly isNamed?: true
  readonly variable?: string
}

const named = (read: ReadLiterals | undefined): ReadLiterals | undefined =>
  read === undefined ? undefined : { ...read, isNamed: true }

/** More values than this in one another are a cycle, which is reported where values are computed. */
const depthMax = 100

/** The values that files declare, before names are resolved: literals are read when statements are bound. */
export class Constants {
  readonly #declared = new Map<string, Statement>()

  constructor(documents: readonly Document[]) {
    for (const { statements } of documents)
      for (const each of statements) {
        const [name] = each.args
        if ((each.keyword.text === "value" || each.keyword.text === "secret") && name?.kind === "word")
          this.#declared.set(name.text, each)
      }
  }

  /** Whether both have the same declarations. */
  isSame(other: Constants | undefined): boolean {
    if (other === undefined || this.#declared.size !== other.#declared.size) return false
    return [...this.#declared].every(([name, statement]) => other.#declared.get(name) === statement)
  }

  /**
   * The literals of an argument that names a value, or an environment variable where one can set the slot; "itself": it is neither, but the
   * argument of its slot. Undefined when something is wrong with them (reported).
   */
  literalsOf(
    slot: Slot,
    argument: Argument,
    several: boolean,
    report: Report,
  ): ReadLiterals | "itself" | undefined {
    if (argument.kind === "word" && this.#isNamed(slot, argument))
      return this.#read(slot, argument, several, report)
    if (argument.kind === "call" && slot.setting !== undefined)
      return readVariable(slot, argument, { span: argument.span, related: [], several }, report)
    return "itself"
  }

  /** Whether the word is the name of a value where a literal of this kind is expected. `none` is a literal, too. */
  #isNamed({ kind }: Slot, { text }: Word): boolean {
    return literalKinds.has(kind) && text !== "none" && this.#declared.has(text)
  }

  /**
   * The literals in the value that a word names: one, or with `several` those between blanks. Undefined when the value is not known now, or
   * is no such literal (reported at the word, with the place of the value).
   */
  #read(slot: Slot, word: Word, several: boolean, report: Report): ReadLiterals | undefined {
    const declaration = this.#declared.get(word.text)
    if (declaration === undefined) return undefined
    const related = [{ span: declaration.span, message: `the ${declaration.keyword.text}` }]
    const place = { span: word.span, related, several }
    const call = slot.setting === undefined ? undefined : this.#callOf(word.text, 0)
    if (call !== undefined) return named(readVariable(slot, call, place, report))
    const text = this.#textOf(word.text, 0)
    if (text !== undefined) return named(readLiterals(slot, text, place, report))
    report.add("SP2004", word.span, `\`${word.text}\` is not known before the plan is loaded`, {
      help: `Use a value with constant text, e.g. \`value ${word.text} = "…"\`: the compiler needs ${slotKinds[slot.kind].expected.replace(/ such as.*/, "")} here.`,
      related,
    })
    return undefined
  }

  /** The `env(…)` of a value, also through the names of others. */
  #callOf(name: string, depth: number): Call | undefined {
    const declaration = this.#declared.get(name)
    const argument = declaration?.args[2]
    if (declaration?.keyword.text !== "value" || depth > depthMax) return undefined
    if (argument?.kind === "word") return this.#callOf(argument.text, depth + 1)
    return argument?.kind === "call" && argument.name.text === "env" ? argument : undefined
  }

  /** An argument whose strings must be constant, with the text of the values that they name. A string stays as it is when one of them is not known now. */
  filledIn({ kind }: Slot, argument: Argument): Argument {
    if (!constantKinds.has(kind)) return argument
    if (argument.kind === "text") return this.#filledIn(argument)
    if (argument.kind !== "call") return argument
    return {
      ...argument,
      args: argument.args.map((each) => (each.kind === "text" ? this.#filledIn(each) : each)),
    }
  }

  #filledIn(argument: TextArgument): TextArgument {
    if (argument.parts.every((part) => part.kind === "literal")) return argument
    const value = this.#joined(argument, 0)
    if (value === undefined) return argument
    return { ...argument, parts: value === "" ? [] : [{ kind: "literal", value, span: argument.span }] }
  }

  /** The constant text of a value; undefined when the runtime reads it, or when it is invalid. */
  #textOf(name: string, depth: number): string | undefined {
    const declaration = this.#declared.get(name)
    const text = declaration?.args[2]
    if (declaration?.keyword.text !== "value" || depth > depthMax) return undefined
    if (text?.kind === "word") return this.#textOf(text.text, depth + 1)
    return text?.kind === "text" ? this.#joined(text, depth) : undefined
  }

  #joined({ parts }: TextArgument, depth: number): string | undefined {
    const texts = parts.map((part) => {
      if (part.kind === "literal") return part.value
      const name = soleName(part.source)
      return name === undefined ? undefined : this.#textOf(name, depth + 1)
    })
    return texts.includes(undefined) ? undefined : texts.join("")
  }
}

/** Where a literal is used: findings are reported there, with the place of the value as `related`. */
interface LiteralPlace {
  readonly span: Span
  readonly related: readonly { readonly span: Span; readonly message: string }[]
  readonly several: boolean
}

function readLiterals(
  slot: Slot,
  text: string,
  { span, related, several }: LiteralPlace,
  report: Report,
): ReadLiterals | undefined {
  const parts = several ? text.split(/\s+/).filter((part) => part !== "") : [text]
  const own = new Report()
  const values = parts.map((part) => readArgument(slot, { kind: "word", text: part, span }, own))
  for (const finding of own.sorted()) report.addAll([{ ...finding, related }])
  if (values.length > 0 && !values.includes(undefined)) return { values }
  if (values.length === 0) report.add("SP2004", span, "the value is empty", { related })
  return undefined
}

/** The plan contains the default, so that it says what holds where the variable is not set. */
function readVariable(slot: Slot, call: Call, place: LiteralPlace, report: Report): ReadLiterals | undefined {
  const example = /`(.*?)`/.exec(slotKinds[slot.kind].expected)?.[1] ?? ""
  const help = `Write \`env(NAME, "${example}")\`.`
  if (call.name.text !== "env") {
    report.add("SP2032", call.name.span, `\`${shown(call.name.text)}(…)\` cannot be used here`, { help })
    return undefined
  }
  const found = readOutside(call, { slot: slot.slot, kind: "constant" }, report)
  if (found === undefined || !("env" in found)) return undefined
  if (found.default === undefined) {
    const why = `\`env(${found.env})\` needs a default here, for processes without this variable`
    report.add("SP2032", place.span, why, { help, related: place.related })
    return undefined
  }
  const read = readLiterals(slot, found.default, place, report)
  return read === undefined ? undefined : { ...read, variable: found.env }
}
