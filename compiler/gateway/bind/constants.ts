import { Report } from "../../core/diagnostic.ts"
import type { Argument, Document, Statement, TextArgument, Word } from "../ast.ts"
import { literalSlots } from "../schema/findings.ts"
import type { Slot, SlotKind } from "../schema/row.ts"
import { slotKinds } from "../schema/slots.ts"
import { soleName } from "./names.ts"
import { readArgument } from "./read.ts"

/** The kinds of literals that a named value can stand for. Other words are names or keywords themselves. */
const literalKinds: ReadonlySet<SlotKind> = new Set(literalSlots)

/** The kinds of strings that the compiler reads itself. Others keep their `${…}` until the plan is loaded, or until a request comes. */
const constantKinds: ReadonlySet<SlotKind> = new Set([
  ...(["constant", "host", "path", "header-name", "query-name", "file", "outside"] as const),
])

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

  /** Whether the word is the name of a value where a literal of this kind is expected. `none` is a literal, too. */
  isNamed({ kind }: Slot, { text }: Word): boolean {
    return literalKinds.has(kind) && text !== "none" && this.#declared.has(text)
  }

  /**
   * The literals in the value that a word names: one, or with `several` those between blanks. Undefined when the value is not known now, or
   * is no such literal (reported at the word, with the place of the value).
   */
  read(slot: Slot, word: Word, several: boolean, report: Report): unknown[] | undefined {
    const declaration = this.#declared.get(word.text)
    if (declaration === undefined) return undefined
    const text = this.#textOf(word.text, 0)
    const related = [{ span: declaration.span, message: `the ${declaration.keyword.text}` }]
    if (text === undefined) {
      report.add("SP2004", word.span, `\`${word.text}\` is not known before the plan is loaded`, {
        help: `Use a value with constant text, e.g. \`value ${word.text} = "…"\`: the compiler needs ${slotKinds[slot.kind].expected.replace(/ such as.*/, "")} here.`,
        related,
      })
      return undefined
    }
    const parts = several ? text.split(/\s+/).filter((part) => part !== "") : [text]
    const own = new Report()
    const values = parts.map((part) => readArgument(slot, { kind: "word", text: part, span: word.span }, own))
    for (const finding of own.sorted()) report.addAll([{ ...finding, related }])
    if (values.length > 0 && !values.includes(undefined)) return values
    if (values.length === 0)
      report.add("SP2004", word.span, `the value \`${word.text}\` is empty`, { related })
    return undefined
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
