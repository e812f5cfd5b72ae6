import type { IToken, TokenType } from "chevrotain"
import { didYouMean, nearest } from "../core/nearest.ts"
import type { Span } from "../core/source.ts"
import type {
  ConditionNode,
  ModelDocument,
  ModelHeader,
  ModelLayout,
  Name,
  RelationDefinition,
  StatementNode,
  TypeNode,
} from "./ast.ts"
import { buildCondition } from "./conditions.ts"
import { buildRewrite, readName, spanOf } from "./expressions.ts"
import { layout, type StatementLine } from "./layout.ts"
import type { ModelMistakes } from "./mistakes.ts"
import { hasSimpleNameForm } from "./names.ts"
import { type ParseMistake, parseStatement, type RawStatement } from "./parser.ts"
import {
  type BodyToken,
  condition,
  conditionName,
  containerType,
  define,
  endOf,
  extend,
  model,
  module,
  plainType,
  relations,
  schema,
  tokenize,
  type,
} from "./tokens.ts"

/**
 * Parses a model. Each mistake is reported with its line, and all other lines are still parsed. Names whose definitions could not be parsed
 * are kept, so that their uses are not reported.
 */
export function parseModel(mistakes: ModelMistakes): ModelDocument {
  return build(mistakes).document
}

/** Parses a model for formatting: the positions of statements and comments. */
export function parseLayout(mistakes: ModelMistakes): ModelLayout {
  return build(mistakes).layout
}

/** From text to tree. The layout keeps comments and statements in order, for `fmt`. */
function build(mistakes: ModelMistakes): { readonly document: ModelDocument; readonly layout: ModelLayout } {
  const { file } = mistakes
  const { tokens, comments, strange } = tokenize(file.text)
  const builder = new DocumentBuilder(mistakes)
  for (const line of layout(tokens, strange, mistakes)) builder.add(line)
  const document = builder.finish()
  const spans = comments.map((each) => spanOf(each, mistakes))
  return { document, layout: { file, statements: builder.statements, comments: spans } }
}

/** The rule of a statement by its first word. */
const rules = new Map<TokenType, RawStatement["kind"]>([
  [model, "model"],
  [schema, "schema"],
  [module, "module"],
  [type, "type"],
  [extend, "type"],
  [relations, "relations"],
  [define, "define"],
  [condition, "condition"],
])

/** Syntax of the statements, for findings. */
const forms: Readonly<Record<RawStatement["kind"], string>> = {
  model: "model",
  schema: "schema 1.1",
  module: "module NAME",
  type: "type NAME",
  relations: "relations",
  define: "define NAME: [TYPE] or RELATION or RELATION from RELATION",
  condition: "condition NAME(PARAMETER: TYPE) { EXPRESSION }",
}

interface OpenType {
  readonly name: Name
  readonly extend: boolean
  readonly relations: RelationDefinition[]
  /** The `relations` line, or the first `define` that has none above it. */
  relationsLine: IToken | undefined
}

/**
 * Builds the tree statement by statement. What a statement may follow is checked here and not in the grammar, so that the message can say
 * it.
 */
class DocumentBuilder {
  readonly statements: StatementNode[] = []
  readonly #mistakes: ModelMistakes
  readonly #types: OpenType[] = []
  readonly #conditions: ConditionNode[] = []
  #header: ModelHeader | undefined
  #expected: "header" | "schema" | "definitions" = "header"
  #modelLine: IToken | undefined
  #type: OpenType | undefined
  #namesMissing = false

  constructor(mistakes: ModelMistakes) {
    this.#mistakes = mistakes
  }

  /** A statement that cannot be parsed keeps its name: other statements may use it. */
  add({ tokens, broken }: StatementLine): void {
    const [first] = tokens
    if (first === undefined) return
    const rule = rules.get(first.tokenType)
    if (!this.#passHeader(first, rule)) return
    if (rule === undefined) {
      this.#takeUnknown(tokens, broken)
      return
    }
    this.#checkPlace(rule, first)
    const statement = broken ? undefined : parseStatement(rule, tokens)
    if (statement?.kind === "mistake") this.#reportMistake(statement, rule)
    if (statement === undefined || statement.kind === "mistake") this.#keepName(rule, tokens)
    else {
      const last = tokens.at(-1) as IToken
      this.#take(statement, this.#mistakes.file.span(first.startOffset, endOf(last)))
    }
  }

  /** The tree. A missing `schema` line is reported where it belongs. */
  finish(): ModelDocument {
    const { file } = this.#mistakes
    if (this.#expected === "schema" && this.#modelLine !== undefined) {
      const end = endOf(this.#modelLine)
      this.#mistakes.add("SP4011", file.span(end, end), "expected a line `schema 1.1` after `model`")
    }
    this.#closeType()
    const types: readonly TypeNode[] = this.#types
    return {
      file,
      header: this.#header,
      types,
      conditions: this.#conditions,
      namesMissing: this.#namesMissing,
    }
  }

  /** Header lines come first. Returns false when the line has been consumed. */
  #passHeader(first: IToken, rule: RawStatement["kind"] | undefined): boolean {
    if (this.#expected === "definitions") return true
    const wanted = this.#expected === "header" ? "model" : "schema"
    if (rule === wanted || (this.#expected === "header" && rule === "module")) return true
    const close = rule === undefined && nearest(first.image, [wanted]) !== undefined
    const detail =
      wanted === "model"
        ? `expected \`model\`, found \`${first.image}\``
        : `expected a line \`schema 1.1\` after \`model\`, found \`${first.image}\``
    this.#mistakes.add("SP4011", spanOf(first, this.#mistakes), detail)
    this.#expected = close && wanted === "model" ? "schema" : "definitions"
    return rule !== undefined && rule !== "schema"
  }

  /** Handles a line that does not begin with a keyword. For a misspelt keyword, the defined name is still known. */
  #takeUnknown(tokens: readonly IToken[], broken: boolean): void {
    const word = tokens[0]?.image.slice(0, 60) ?? ""
    if (!broken) {
      const hint = didYouMean(word, ["define", "type", "relations", "condition"])
      const span = spanOf(tokens[0] as IToken, this.#mistakes)
      this.#mistakes.add("SP4001", span, `no statement starts with \`${word}\`${hint}`)
    }
    const meant = nearest(word, ["define", "type", "condition", "relations"])
    if (meant === "relations" && this.#type !== undefined) this.#type.relationsLine ??= tokens[0]
    else if (meant !== undefined) this.#keepName(meant as RawStatement["kind"], tokens)
    // `user type` or a lone name may define anything, and the indented lines below may belong to it.
    else if (!broken) this.#loseNames(tokens[0] as IToken)
  }

  #loseNames({ startOffset }: IToken): void {
    this.#namesMissing = true
    if (startOffset > 0 && this.#mistakes.file.text[startOffset - 1] !== "\n") return
    this.#closeType()
    this.#type = undefined
  }

  /** The finding for a statement that does not parse, with help for the usual causes. */
  #reportMistake({ at, after, message: said }: ParseMistake, rule: RawStatement["kind"]): void {
    const { file } = this.#mistakes
    const hint =
      at === undefined || rule !== "define" ? "" : didYouMean(at.image, ["from", "with", "or", "and"])
    const message = said + hint
    const span = at === undefined ? file.span(endOf(after), endOf(after)) : spanOf(at, this.#mistakes)
    if (at?.image === "as" || at?.image === "self") {
      const help = "`as` and `self` belong to schema 1.0. Write `define parent: [folder]`."
      this.#mistakes.add("SP4001", span, message, { help })
    } else if (
      at !== undefined &&
      /a name/.test(message) &&
      at.tokenType.CATEGORIES?.includes(conditionName)
    ) {
      const help = `Choose another name: \`${at.image}\` is a reserved word.`
      this.#mistakes.add("SP4001", span, message, { help })
    } else if (/a name|a parameter/.test(message) && at !== undefined && isTypeWord(at)) {
      const help = `Choose another name, e.g. \`condition late(hour: int)\`: \`${at.image}\` is a type.`
      this.#mistakes.add("SP4001", span, message, { help })
    } else this.#mistakes.add("SP4001", span, message, { help: `Write it as \`${forms[rule]}\`.` })
  }

  /** The order of statements: header, types, conditions. */
  #checkPlace(rule: RawStatement["kind"], first: IToken): void {
    const out = (detail: string) => this.#mistakes.add("SP4009", spanOf(first, this.#mistakes), detail)
    if (this.#expected !== "definitions") {
      if (rule === "model") {
        this.#expected = "schema"
        this.#modelLine = first
      } else this.#expected = "definitions"
    } else if (rule === "model" || rule === "schema" || rule === "module") {
      out(`\`${first.image}\` must be at the beginning of the file, once`)
    } else if (rule === "type" && this.#conditions.length > 0) out("types must come before conditions")
    else if (rule === "relations") this.#checkRelations(first, out)
    else if (rule === "define") this.#checkDefine(first, out)
  }

  #checkRelations(first: IToken, out: (detail: string) => void): void {
    if (this.#type === undefined) {
      if (!this.#namesMissing) out("`relations` belongs under a type")
    } else if (this.#type.relationsLine !== undefined) out("this type already has `relations`")
    else this.#type.relationsLine = first
  }

  #checkDefine(first: IToken, out: (detail: string) => void): void {
    if (this.#type === undefined) {
      if (!this.#namesMissing) out("`define` belongs under a type and its `relations`")
    } else if (this.#type.relationsLine === undefined) {
      this.#type.relationsLine = first
      out("`define` needs a line `relations` above it")
    }
  }

  /** Adds a statement to the tree and to the list for `fmt`. */
  #take(statement: RawStatement, span: Span): void {
    const mistakes = this.#mistakes
    const { kind } = statement
    if (kind === "schema" || kind === "module") {
      this.#takeHeader(statement)
      this.statements.push({ kind, value: statement.value.image, span })
    } else if (kind === "type") {
      const name = readName(statement.name, mistakes)
      this.#openType(name, statement.extend)
      this.statements.push({ kind, name: name.text, extend: statement.extend, span })
    } else if (kind === "define") {
      const rewrite = buildRewrite(statement.expression, mistakes)
      const relation = { name: readName(statement.name, mistakes), rewrite }
      this.#type?.relations.push(relation)
      this.statements.push({ kind, relation, span })
    } else if (kind === "condition") {
      this.#closeType()
      const condition = buildCondition(statement, mistakes)
      const { cuts } = (statement.body as BodyToken).payload
      this.#conditions.push(condition)
      this.statements.push({ kind, condition, body: spanOf(statement.body, mistakes), cuts, span })
    } else this.statements.push({ kind, span })
  }

  /** The header. One that follows definitions was reported and does not count. */
  #takeHeader({ kind, keyword, value }: Extract<RawStatement, { kind: "schema" | "module" }>): void {
    if (kind === "module" && !hasSimpleNameForm(value.image)) {
      const help = "Use letters, digits, `_` and `-`."
      const detail = `\`${value.image}\` is not a valid name for a module`
      this.#mistakes.add("SP4016", spanOf(value, this.#mistakes), detail, { help })
    }
    if (this.#header !== undefined || this.#types.length > 0) return
    const name: Name = { text: value.image, span: spanOf(value, this.#mistakes) }
    const span = this.#mistakes.file.span((this.#modelLine ?? keyword).startOffset, endOf(value))
    this.#header = kind === "schema" ? { kind: "model", schema: name, span } : { kind, name, span }
  }

  /** Keeps the name that a broken statement defines. */
  #keepName(rule: RawStatement["kind"], tokens: readonly IToken[]): void {
    const token = tokens[tokens[0]?.tokenType === extend ? 2 : 1]
    const usable = token?.tokenType.CATEGORIES?.includes(conditionName) === true && this.#endsWhole(token)
    if (rule === "type") {
      if (usable) this.#openType(nameOf(token, this.#mistakes), tokens[0]?.tokenType === extend)
      else {
        this.#closeType()
        this.#type = undefined
        this.#namesMissing = true
      }
    } else if (rule === "define") {
      if (usable) this.#type?.relations.push({ name: nameOf(token, this.#mistakes), rewrite: undefined })
      else if (this.#type !== undefined) this.#namesMissing = true
    } else if (rule === "condition") {
      this.#closeType()
      if (usable) {
        this.#conditions.push({ name: nameOf(token, this.#mistakes), parameters: [], expression: undefined })
      } else this.#namesMissing = true
    }
  }

  /** Whether a word is complete, and not a piece of a word with invalid characters. */
  #endsWhole(token: IToken): boolean {
    return /^(?:[\s:(]|$)/.test(this.#mistakes.file.text.slice(endOf(token), endOf(token) + 1))
  }

  #openType(name: Name, extending: boolean): void {
    this.#closeType()
    this.#type = { name, extend: extending, relations: [], relationsLine: undefined }
    this.#types.push(this.#type)
  }

  /** An empty `relations` is an error, unless its relations may be in a line that was not understood. */
  #closeType(): void {
    const ended = this.#type
    this.#type = undefined
    if (ended?.relationsLine === undefined || ended.relations.length > 0 || this.#namesMissing) return
    this.#mistakes.add(
      "SP4001",
      spanOf(ended.relationsLine, this.#mistakes),
      "`relations` has no `define` after it",
      {
        help: "Define a relation, or remove the line.",
      },
    )
  }
}

function isTypeWord({ tokenType: { CATEGORIES = [] } }: IToken): boolean {
  return CATEGORIES.includes(plainType) || CATEGORIES.includes(containerType)
}

function nameOf(token: IToken, mistakes: ModelMistakes): Name {
  return { text: token.image, span: spanOf(token, mistakes) }
}
