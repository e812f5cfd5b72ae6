import { escapeXmlAttribute, escapeXmlText } from "../../../runtime/expression/xml-characters.ts"
import { scanJson } from "../../../runtime/plan/json-scan.ts"
import type { Text, TextPart } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { CelArgument, TextArgument, Word } from "../ast.ts"
import { soleName } from "../bind/names.ts"
import { addMeant, type MeantExpression, meantExpressions } from "../meant-expressions.ts"
import type { Program } from "../program.ts"
import { type Expressions, hasText } from "./expression.ts"
import { placeIn } from "./literal.ts"
import type { StatementPlace } from "./place.ts"
import type { Values } from "./values.ts"
import { hole, xmlPlaces } from "./xml-places.ts"

/** What a text in this place can contain. */
export interface TextUse {
  /** Whether secrets are allowed, which is only safe where callers cannot see the text. Named values and expressions are always allowed. */
  readonly secrets?: boolean
  /** Checks a constant part. Reports what is wrong, at an offset in the part. */
  readonly constant?: (value: string, report: Report, at: (offset: number) => Span) => void
}

/** A part of a text while it is lowered, with its place for findings. */
interface Piece {
  readonly part: TextPart
  readonly span: Span
  readonly at?: (offset: number) => Span
}

/** Lowers texts that can contain named values, secrets and expressions. */
export class TextLowering {
  readonly #program: Program
  readonly #values: Values
  readonly #expressions: Expressions
  readonly #report: Report

  constructor(program: Program, values: Values, expressions: Expressions, report: Report) {
    this.#program = program
    this.#values = values
    this.#expressions = expressions
    this.#report = report
  }

  /** The text for the plan; undefined when something in it is invalid (reported). */
  lower(argument: TextArgument | Word, place: StatementPlace, use: TextUse = {}): Text | undefined {
    const pieces = this.#pieces(argument, place, use)
    if (pieces === undefined) return undefined
    if (use.constant !== undefined) {
      for (const { part, span, at } of pieces) {
        if (typeof part === "string") use.constant(part, this.#report, at ?? (() => span))
      }
    }
    return joined(pieces.map((piece) => piece.part))
  }

  /**
   * A JSON body. `(CEL)` is the whole value. In text, an expression inside JSON quotes is escaped, and an expression outside is a JSON
   * value.
   */
  lowerJson(argument: TextArgument | Word | CelArgument, place: StatementPlace): Text | undefined {
    if (argument.kind === "cel") {
      const expression = this.#expressions.lower(argument, place)
      if (expression === undefined || !this.#fitsJson({ expression }, false, argument.span)) return undefined
      return { text: [{ expression, as: "json-value" }] }
    }
    const pieces = this.#pieces(argument, place, {}, true)
    if (pieces === undefined) return undefined
    const meant = argument.kind === "text" ? this.#meantIn(argument, place) : []
    const parts: TextPart[] = []
    let skeleton = ""
    let inString = false
    const offsets: { start: number; piece: Piece }[] = []
    for (const piece of pieces) {
      offsets.push({ start: skeleton.length, piece })
      const { part, at } = piece
      if (typeof part !== "string") {
        if (!this.#fitsJson(part, inString, piece.span)) return undefined
        parts.push(this.#jsonPart(part, inString))
        skeleton += inString ? "x" : "null"
        continue
      }
      // Text written here is JSON. The constant of a named value is a value, like the result of an expression.
      const text = at === undefined ? (inString ? escaped(part) : JSON.stringify(part)) : part
      if (at !== undefined) inString = endsInString(part, inString)
      parts.push(text)
      skeleton += text
    }
    const problem = scanJson(skeleton)
    const found = problem && offsets.findLast(({ start }) => start <= problem.at)
    const span =
      problem && (found?.piece.at?.(problem.at - found.start) ?? found?.piece.span ?? argument.span)
    const cause = meant.find((each) => span !== undefined && overlap(each.span, span))
    addMeant(
      meant.filter((each) => each !== cause),
      this.#program,
      this.#report,
    )
    if (problem === undefined || span === undefined) return joined(parts)
    const hint = cause === undefined ? "" : `; did you mean \`\${${cause.source}}\`?`
    this.#report.add("SP5007", cause?.span ?? span, `${problem.message}${hint}`)
    return undefined
  }

  /** XML: each expression is escaped for its position. */
  lowerXml(argument: TextArgument | Word, place: StatementPlace): Text | undefined {
    const pieces = this.#pieces(argument, place, {})
    if (pieces === undefined) return undefined
    const offsets: number[] = []
    let skeleton = ""
    for (const { part, at } of pieces) {
      offsets.push(skeleton.length)
      // The constant of a named value is a value, like the result of an expression.
      skeleton += typeof part === "string" && at !== undefined ? part : hole
    }
    const isHole = ({ part, at }: Piece): boolean => typeof part !== "string" || at === undefined
    const { places, problem } = xmlPlaces(
      skeleton,
      offsets.filter((_, index) => isHole(pieces[index] as Piece)),
    )
    let refused = false
    const parts = pieces.map((piece, index): TextPart => {
      const where = places.get(offsets[index] as number)
      if (!isHole(piece) || where === undefined) return piece.part
      if (typeof where === "string") return this.#xmlPart(piece, where)
      refused = true
      this.#report.add("SP5021", piece.span, `the expression is ${where.refused}`)
      return ""
    })
    if (refused) return undefined
    // Remove whitespace before the XML declaration, e.g. the indentation of a heredoc: it would make the XML malformed.
    const [begin, ...rest] = parts
    if (problem === undefined) return joined(typeof begin === "string" ? [begin.trimStart(), ...rest] : parts)
    const index = offsets.findLastIndex((start) => start <= problem.at)
    const found = pieces[index]
    const span = found?.at?.(problem.at - (offsets[index] ?? 0)) ?? found?.span ?? argument.span
    this.#report.add("SP5020", span, problem.message)
    return undefined
  }

  /** A text body: text, or `(CEL)` with a value that can be converted to text. */
  lowerBody(argument: TextArgument | Word | CelArgument, place: StatementPlace): Text | undefined {
    if (argument.kind !== "cel") return this.lower(argument, place)
    const part = this.#expressionPart(argument, place, false)
    return part === undefined ? undefined : { text: [part] }
  }

  #meantIn(text: TextArgument, place: StatementPlace): MeantExpression[] {
    return text.parts.flatMap((part) =>
      part.kind === "literal"
        ? meantExpressions(part.span, (source) => this.#expressions.isInsertable(source, place))
        : [],
    )
  }

  /**
   * The pieces of a text, each with its place. Undefined after a mistake, but only when all pieces are checked, so that all mistakes are
   * reported.
   */
  #pieces(
    argument: TextArgument | Word,
    place: StatementPlace,
    use: TextUse,
    json = false,
  ): Piece[] | undefined {
    const pieces: Piece[] = []
    if (argument.kind === "text" && !json)
      addMeant(this.#meantIn(argument, place), this.#program, this.#report)
    let complete = true
    const add = (part: TextPart | undefined, span: Span, at?: Piece["at"]): void => {
      if (part === undefined) complete = false
      else pieces.push(at === undefined ? { part, span } : { part, span, at })
    }
    if (argument.kind === "word") add(this.#named(argument.text, argument.span, use), argument.span)
    else {
      for (const part of argument.parts) {
        if (part.kind === "literal") add(part.value, part.span, (offset) => placeIn(part, offset))
        else {
          const name = soleName(part.source)
          const isValue = name !== undefined && this.#program.find("value", name) !== undefined
          add(
            isValue ? this.#named(name, part.span, use) : this.#expressionPart(part, place, json),
            part.span,
          )
        }
      }
    }
    return complete ? pieces : undefined
  }

  /** A named value or secret. Undeclared names are already reported by `checkNames`. */
  #named(name: string, span: Span, use: TextUse): TextPart | undefined {
    const declared = this.#program.find("value", name)
    if (declared === undefined) return undefined
    if (declared.kind === "secret") {
      if (use.secrets === true) {
        this.#values.needSecret(name)
        return { secret: name }
      }
      this.#report.add("SP3013", span, `the secret \`${name}\` would become visible here`)
      return undefined
    }
    const state = this.#values.state(declared)
    if (state === "broken") return undefined
    if ("constant" in state) return state.constant
    this.#values.need(name)
    return { value: name }
  }

  /** A part of a text is converted to a string, which lists and maps have no form for. JSON has one. */
  #expressionPart(
    node: { source: string; span: Span },
    place: StatementPlace,
    json: boolean,
  ): TextPart | undefined {
    const expression = this.#expressions.lower(node, place)
    if (expression === undefined) return undefined
    if (!json && !hasText(expression.type)) {
      this.#report.add(
        "SP5006",
        node.span,
        `a value of type \`${expression.type}\` cannot be converted to a string`,
      )
      return undefined
    }
    return { expression }
  }

  #fitsJson(part: Exclude<TextPart, string>, inString: boolean, span: Span): boolean {
    if (!("expression" in part)) return true
    const { type } = part.expression
    const fits = hasText(type) || (!inString && hasJson(type))
    const what = inString ? "a string inside JSON quotes" : "JSON"
    if (!fits) this.#report.add("SP5006", span, `a value of type \`${type}\` cannot be converted to ${what}`)
    return fits
  }

  /** Text that is known now is escaped now; a value that is known later becomes an expression that escapes. */
  #xmlPart({ part, span }: Piece, where: "text" | "attribute"): TextPart {
    const as = where === "text" ? "xml-text" : "xml-attribute"
    if (typeof part === "string") {
      const escaper = where === "text" ? escapeXmlText : escapeXmlAttribute
      const escaped = escaper(part)
      if (escaped === undefined)
        this.#report.add("SP5020", span, "the value has a character that XML cannot have")
      return escaped ?? ""
    }
    if ("expression" in part) return { expression: part.expression, as }
    if ("value" in part) return { expression: { lang: "cel", text: part.value, type: "string" }, as }
    throw new Error("a secret reached an XML body")
  }

  #jsonPart(part: Exclude<TextPart, string>, inString: boolean): TextPart {
    const as = inString ? "json-string" : "json-value"
    if ("expression" in part) return { expression: part.expression, as }
    // A value that is only known when the plan is loaded needs the same escaping. As an expression it is escaped.
    if ("value" in part) return { expression: { lang: "cel", text: part.value, type: "string" }, as }
    throw new Error("a secret reached a JSON body")
  }
}

function overlap(a: Span, b: Span): boolean {
  return a.file === b.file && a.start < b.end && b.start < a.end
}

/** Types that can be converted to JSON (runtime/expression's `toJson`). Objects like `request` cannot. */
function hasJson(type: string): boolean {
  return /^(?:list|map)\b/.test(type) || ["bytes", "null"].includes(type)
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Whether JSON text ends inside a string; `inString` says whether it begins inside one. */
function endsInString(text: string, inString: boolean): boolean {
  let inside = inString
  for (let at = 0; at < text.length; at++) {
    if (inside && text[at] === "\\") at++
    else if (text[at] === '"') inside = !inside
  }
  return inside
}

/** Neighbouring constants become one, so that equal texts give equal plans however they are written. */
function joined(parts: readonly TextPart[]): Text {
  const result: TextPart[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (part === "") continue
    if (typeof part === "string" && typeof last === "string") result[result.length - 1] = last + part
    else result.push(part)
  }
  const [first] = result
  if (first === undefined) return ""
  return result.length === 1 && typeof first === "string" ? first : { text: result }
}
