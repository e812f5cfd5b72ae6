import {
  EmbeddedActionsParser,
  EOF,
  type IParserErrorMessageProvider,
  type IToken,
  type TokenType,
} from "chevrotain"
import {
  and,
  body,
  butNot,
  close,
  closeList,
  colon,
  comma,
  condition,
  conditionName,
  containerType,
  define,
  extend,
  from,
  greater,
  hash,
  less,
  model,
  module,
  name,
  open,
  openList,
  or,
  plainType,
  relations,
  schema,
  star,
  type,
  usedCondition,
  version,
  vocabulary,
  withWord,
} from "./tokens.ts"

/** Operands and the operators between them, left to right, before the check whether they may be mixed. */
export interface RawExpression {
  readonly operands: readonly RawOperand[]
  readonly operators: readonly IToken[]
}

/** An operand as tokens: names are checked later, where a finding can say more. */
export type RawOperand =
  | {
      readonly kind: "list"
      readonly open: IToken
      readonly close: IToken
      readonly restrictions: readonly RawRestriction[]
    }
  | { readonly kind: "group"; readonly open: IToken; readonly close: IToken; readonly inner: RawExpression }
  | { readonly kind: "name"; readonly relation: IToken; readonly tupleset: IToken | undefined }

export interface RawRestriction {
  readonly type: IToken
  readonly sign: IToken | undefined
  readonly relation: IToken | undefined
  readonly star: IToken | undefined
  readonly condition: IToken | undefined
}

export interface RawParameter {
  readonly name: IToken
  readonly type: IToken
  readonly generic: IToken | undefined
}

/** The parts of a statement, by its first word. */
export type RawStatement =
  | { readonly kind: "model" | "relations"; readonly keyword: IToken }
  | { readonly kind: "schema" | "module"; readonly keyword: IToken; readonly value: IToken }
  | { readonly kind: "type"; readonly extend: boolean; readonly name: IToken }
  | { readonly kind: "define"; readonly name: IToken; readonly expression: RawExpression }
  | {
      readonly kind: "condition"
      readonly name: IToken
      readonly parameters: readonly RawParameter[]
      readonly body: IToken
    }

const words = new Map<TokenType, string>([
  [name, "a name"],
  [conditionName, "a name"],
  [usedCondition, "a name"],
  [plainType, "a type (bool, string, int, uint, double, duration, timestamp, ipaddress)"],
  [version, "a version such as `1.1`"],
])

function named(token: TokenType): string {
  return words.get(token) ?? `\`${token.name}\``
}

function found(token: IToken): string {
  return token.tokenType === EOF ? "the end of the line" : `\`${token.image.slice(0, 60)}\``
}

const messages: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected, actual }) => `expected ${named(expected)}, found ${found(actual)}`,
  buildNotAllInputParsedMessage: ({ firstRedundant }) => `${found(firstRedundant)} is not expected here`,
  buildNoViableAltMessage: ({ actual, customUserDescription }) =>
    `expected ${customUserDescription ?? "something else"}, found ${found(actual[0] as IToken)}`,
  buildEarlyExitMessage: ({ actual, customUserDescription }) =>
    `expected ${customUserDescription ?? "something else"}, found ${found(actual[0] as IToken)}`,
}

/**
 * The grammar of one statement. Each rule gets one line: a mistake in a line can't affect the next one, and no re-synchronisation is needed.
 * Expressions accept more than the language: mixed operators and lists in any place are parsed here and checked when the tree is built, where
 * a better message is possible.
 */
export class StatementParser extends EmbeddedActionsParser {
  /** @param skipValidations skips validating the grammar. A test creates a parser that validates it. */
  constructor(skipValidations = true) {
    super(vocabulary, {
      recoveryEnabled: false,
      maxLookahead: 2,
      errorMessageProvider: messages,
      skipValidations,
    })
    this.performSelfAnalysis()
  }

  readonly model = this.RULE(
    "modelLine",
    (): RawStatement => ({ kind: "model", keyword: this.CONSUME(model) }),
  )

  readonly schema = this.RULE("schemaLine", (): RawStatement => {
    return { kind: "schema", keyword: this.CONSUME(schema), value: this.CONSUME(version) }
  })

  readonly module = this.RULE("moduleLine", (): RawStatement => {
    return { kind: "module", keyword: this.CONSUME(module), value: this.CONSUME(name) }
  })

  readonly type = this.RULE("typeLine", (): RawStatement => {
    const word = this.OPTION(() => this.CONSUME(extend))
    this.CONSUME(type)
    return { kind: "type", extend: word !== undefined, name: this.CONSUME(name) }
  })

  readonly relations = this.RULE("relationsLine", (): RawStatement => {
    return { kind: "relations", keyword: this.CONSUME(relations) }
  })

  readonly define = this.RULE("defineLine", (): RawStatement => {
    this.CONSUME(define)
    const relation = this.CONSUME(name)
    this.CONSUME(colon)
    return { kind: "define", name: relation, expression: this.SUBRULE(this.expression) }
  })

  readonly condition = this.RULE("conditionLine", (): RawStatement => {
    this.CONSUME(condition)
    const own = this.CONSUME(conditionName)
    this.CONSUME(open)
    const parameters: RawParameter[] = []
    this.AT_LEAST_ONE_SEP({
      SEP: comma,
      DEF: () => void parameters.push(this.SUBRULE(this.parameter)),
      ERR_MSG: "a parameter, e.g. `hour: int`",
    })
    this.CONSUME(close)
    return { kind: "condition", name: own, parameters, body: this.CONSUME(body) }
  })

  private readonly expression = this.RULE("expression", (): RawExpression => {
    const operands = [this.SUBRULE(this.operand)]
    const operators: IToken[] = []
    this.MANY(() => {
      operators.push(this.SUBRULE(this.operator))
      operands.push(this.SUBRULE2(this.operand))
    })
    return { operands, operators }
  })

  private readonly operator = this.RULE("operator", (): IToken => {
    return this.OR([
      { ALT: () => this.CONSUME(or) },
      { ALT: () => this.CONSUME(and) },
      { ALT: () => this.CONSUME(butNot) },
    ])
  })

  private readonly operand = this.RULE("operand", (): RawOperand => {
    return this.OR({
      DEF: [
        { ALT: () => this.SUBRULE(this.list) },
        { ALT: () => this.SUBRULE(this.group) },
        { ALT: () => this.SUBRULE(this.relation) },
      ],
      ERR_MSG: "a relation, `(` or a list in `[ ]`",
    })
  })

  private readonly group = this.RULE("group", (): RawOperand => {
    return {
      kind: "group",
      open: this.CONSUME(open),
      inner: this.SUBRULE(this.expression),
      close: this.CONSUME(close),
    }
  })

  private readonly relation = this.RULE("relation", (): RawOperand => {
    const relation = this.CONSUME(name)
    const tupleset = this.OPTION(() => {
      this.CONSUME(from)
      return this.CONSUME2(name)
    })
    return { kind: "name", relation, tupleset }
  })

  private readonly list = this.RULE("typeList", (): RawOperand => {
    const first = this.CONSUME(openList)
    const restrictions: RawRestriction[] = []
    this.AT_LEAST_ONE_SEP({
      SEP: comma,
      DEF: () => void restrictions.push(this.SUBRULE(this.restriction)),
      ERR_MSG: "a type, e.g. `user`",
    })
    return { kind: "list", open: first, restrictions, close: this.CONSUME(closeList) }
  })

  private readonly restriction = this.RULE("restriction", (): RawRestriction => {
    const subject = this.CONSUME(name)
    const rest = this.OPTION(() =>
      this.OR([
        { ALT: () => ({ sign: this.CONSUME(colon), star: this.CONSUME(star), relation: undefined }) },
        { ALT: () => ({ sign: this.CONSUME(hash), relation: this.CONSUME2(name), star: undefined }) },
      ]),
    )
    const own = this.OPTION2(() => {
      this.CONSUME(withWord)
      return this.CONSUME(usedCondition)
    })
    return { type: subject, sign: rest?.sign, relation: rest?.relation, star: rest?.star, condition: own }
  })

  private readonly parameter = this.RULE("parameter", (): RawParameter => {
    const own = this.CONSUME(conditionName)
    this.CONSUME(colon)
    return this.OR({
      DEF: [
        { ALT: () => ({ name: own, type: this.CONSUME(plainType), generic: undefined }) },
        {
          ALT: () => {
            const container = this.CONSUME(containerType)
            this.CONSUME(less)
            const generic = this.CONSUME2(plainType)
            this.CONSUME(greater)
            return { name: own, type: container, generic }
          },
        },
      ],
      ERR_MSG: "a type (bool, string, int, uint, double, duration, timestamp, ipaddress, map<…>, list<…>)",
    })
  })

  /** Parses one statement by the rule that its first word selects. */
  parse(rule: RawStatement["kind"], tokens: readonly IToken[]): RawStatement | ParseMistake {
    this.input = [...tokens]
    const statement = this[rule]()
    const [error] = this.errors
    if (error === undefined) return statement
    const last = tokens.at(-1) as IToken
    const at = error.token.tokenType === EOF ? undefined : error.token
    return { kind: "mistake", at, after: last, message: error.message }
  }
}

/** The first token that does not fit, or undefined when the line ends too early. `after` is the last token of the line. */
export interface ParseMistake {
  readonly kind: "mistake"
  readonly at: IToken | undefined
  readonly after: IToken
  readonly message: string
}

/** Created at the first statement: analysing the grammar takes a large part of the startup time, and many projects have no model. */
let parser: StatementParser | undefined

/** Parses the tokens of one statement. The caller chooses the rule by the first word. */
export function parseStatement(
  rule: RawStatement["kind"],
  tokens: readonly IToken[],
): RawStatement | ParseMistake {
  parser ??= new StatementParser()
  return parser.parse(rule, tokens)
}
