import type { CelTokenKind } from "./lexer.ts"
import { bindingOf, loopOf } from "./loop-macros.ts"
import { isNameChain, operatorNode, words } from "./operators.ts"
import { ParserState, StopParsing } from "./parser-state.ts"
import { excerpt, reservedWords } from "./source-characters.ts"
import type { TreeNode } from "./syntax-tree.ts"
import { simpleTypes } from "./types.ts"
import { intMax } from "./values.ts"

const type = simpleTypes.dyn

const openers: ReadonlyMap<CelTokenKind, string> = new Map([
  [")", "("],
  ["]", "["],
  ["}", "{"],
])
const closers = new Set<CelTokenKind>([")", "]", "}"])
/**
 * A Pratt parser. Each mistake is one finding. If the intention is clear, the parser continues with the intended token. Otherwise it skips to the next
 * comma, bracket, `&&` or `||`.
 */
export class CelParser extends ParserState {
  private readonly extended: boolean

  /** `extended`: includes the macros of extension libraries. */
  constructor(source: string, extended: boolean) {
    super(source)
    this.extended = extended
  }

  /** @throws StopParsing */
  parse(): TreeNode {
    this.lexer.next()
    if (this.isSign("end")) {
      this.report("syntax", "the expression is empty", 0, this.source.length)
      throw StopParsing
    }
    const tree = this.expression()
    if (!this.isSign("end")) this.leftOver()
    return tree
  }

  /** The conditional operator, which binds weakest: `a ? b : c`. Chains are parsed without recursion. */
  private expression(): TreeNode {
    const first = this.binary(1)
    if (!this.isSign("?")) return first
    const parts: { condition: TreeNode; whenTrue: TreeNode; height: number }[] = []
    let last = first
    while (this.isSign("?")) {
      const conditionHeight = this.height
      this.lexer.next()
      const whenTrue = this.binary(1)
      parts.push({ condition: last, whenTrue, height: Math.max(conditionHeight, this.height) })
      if (this.isSign(":")) this.lexer.next()
      else if (this.isSign("?")) {
        this.here("a conditional inside a conditional needs parentheses: `a ? (b ? c : d) : e`")
        throw StopParsing
      } else this.here(`expected \`:\`, ${this.found()}`)
      last = this.binary(1)
    }
    for (const { condition, whenTrue, height } of parts.reverse()) {
      const { start } = condition
      last = this.made(
        { kind: "conditional", condition, whenTrue, whenFalse: last, start, end: last.end, type },
        Math.max(height, this.height) + 1,
      )
    }
    return last
  }

  /** `and` and `or` between two values: reported, and parsed as `&&` and `||`. */
  private meantSign(): "&&" | "||" | undefined {
    const { kind, value } = this.lexer
    const meant = kind === "name" ? words.get(value as string) : undefined
    if (meant !== undefined) this.here(`\`${value}\` is not an operator; write \`${meant}\``)
    return meant
  }

  /** Precedence climbing: `least` is the lowest precedence that belongs to this operand. Heights are counted to bound the depth. */
  private binary(least: number): TreeNode {
    let left = this.unary()
    for (;;) {
      const { kind, strength, start } = this.lexer
      const meant = kind === "name" ? this.meantSign() : undefined
      const binding = meant === undefined ? strength : meant === "&&" ? 2 : 1
      if (binding === 0 || binding < least) return left
      const leftHeight = this.height
      this.lexer.next()
      const right = this.binary(binding + 1)
      const height = Math.max(leftHeight, this.height) + 1
      left = this.made(this.binaryNode(meant ?? kind, left, right, start), height)
    }
  }

  private binaryNode(name: string, left: TreeNode, right: TreeNode, nameStart: number): TreeNode {
    const { start } = left
    const { end } = right
    if (name === "&&" || name === "||")
      return { kind: "logic", operator: name, left, right, start, end, type }
    return operatorNode(name, [left, right], { start, end, nameStart })
  }

  /** `!` and `-` before a value. A minus directly before a number is part of the number. */
  private unary(): TreeNode {
    const { kind } = this.lexer
    if (kind !== "!" && kind !== "-") return this.postfix(this.primary())
    const signs: { name: "!" | "-"; start: number }[] = []
    let number: TreeNode | undefined
    while (number === undefined) {
      const { kind: name, start } = this.lexer
      if (name !== "!" && name !== "-") break
      this.lexer.next()
      number = name === "-" ? this.negativeNumber(start) : undefined
      if (number === undefined) signs.push({ name, start })
    }
    let node = this.postfix(number ?? this.primary())
    for (const { name, start } of signs.reverse()) {
      node = this.made(
        operatorNode(name, [node], { start, end: node.end, nameStart: start }),
        this.height + 1,
      )
    }
    return node
  }

  private negativeNumber(start: number): TreeNode | undefined {
    const { kind, value, end } = this.lexer
    if (kind !== "literal" || (typeof value !== "bigint" && typeof value !== "number")) return undefined
    if (typeof value === "bigint" && value > intMax + 1n) this.tooLarge(start, end)
    this.lexer.next()
    return this.made({ kind: "literal", value: -value, start, end, type }, 1)
  }

  private tooLarge(start: number, end: number): void {
    this.report("type", "the number does not fit into an int", start, end)
  }

  /** A literal, a name, brackets, a list or a map. */
  private primary(): TreeNode {
    const { kind, value, start, end } = this.lexer
    switch (kind) {
      case "literal":
        if (typeof value === "bigint" && value > intMax) this.tooLarge(start, end)
        this.lexer.next()
        return this.made({ kind: "literal", value, start, end, type }, 1)
      case "name":
        return this.nameOrCall(false, start)
      case "(": {
        this.deeper()
        this.lexer.next()
        const inner = this.expression()
        this.close(")")
        return inner
      }
      case "[":
        return this.list()
      case "{":
        return this.map()
      case ".":
        this.lexer.next()
        if (this.isSign("name")) return this.nameOrCall(true, start)
        this.here(`expected a name, ${this.found()}`)
        return this.gap(start, end)
      default:
        return this.missingValue()
    }
  }

  private missingValue(): TreeNode {
    const { kind, start, end } = this.lexer
    const sign = kind === "?" ? "; optional access is not part of the language" : ""
    if (kind !== "bad") this.here(`expected a value, ${this.found()}${sign}`)
    if (kind === "bad" || kind === "quoted" || kind === "?" || kind === ":") this.lexer.next()
    return this.gap(start, kind === "bad" ? end : start)
  }

  /** A name or a call. `rooted`: it began with a dot. */
  private nameOrCall(rooted: boolean, start: number): TreeNode {
    const { value, start: nameStart, end } = this.lexer
    const name = value as string
    this.lexer.next()
    if (!this.isSign("(")) {
      return this.made({ kind: "name", name, rooted, meaning: undefined, start, end, type }, 1)
    }
    if (reservedWords.has(name)) this.report("syntax", `\`${name}\` is a reserved word`, nameStart, end)
    return this.call(undefined, name, { start, nameStart, nameEnd: end })
  }

  /** Fields, indexes and methods after a value. */
  private postfix(first: TreeNode): TreeNode {
    let node = first
    for (;;) {
      if (this.isSign(".")) node = this.member(node)
      else if (this.isSign("[")) node = this.index(node)
      else if (this.isSign("{") && isNameChain(node)) node = this.message(node)
      else return node
    }
  }

  /** A member. Words that are no field names are reported with another notation. */
  private member(operand: TreeNode): TreeNode {
    const operandHeight = this.height
    this.lexer.next()
    if (this.isSign("?")) {
      this.here("optional access is not part of the language; use `has(a.b)` to test for a field")
      this.lexer.next()
    }
    const { kind, value, start: fieldStart, end } = this.lexer
    const isWord = kind === "literal" && (typeof value === "boolean" || value === null)
    if (isWord || kind === "in") {
      const word = this.source.slice(fieldStart, end)
      this.here(`\`${word}\` is not a field name; write \`["${word}"]\``)
      this.lexer.next()
      return operand
    }
    if (kind !== "name" && kind !== "quoted") {
      this.here(`expected a name, ${this.found()}`)
      return operand
    }
    const field = value as string
    this.lexer.next()
    const { start } = operand
    if (kind === "name" && this.isSign("(")) {
      this.height = operandHeight
      return this.call(operand, field, { start, nameStart: fieldStart, nameEnd: end })
    }
    return this.made(
      {
        kind: "select",
        operand,
        field,
        fieldStart,
        fieldEnd: end,
        test: false,
        meaning: undefined,
        start,
        end,
        type,
      },
      operandHeight + 1,
    )
  }

  /** `a[b]` as a call of the operator. */
  private index(operand: TreeNode): TreeNode {
    const operandHeight = this.height
    const nameStart = this.lexer.start
    this.deeper()
    this.lexer.next()
    const index = this.expression()
    const height = Math.max(operandHeight, this.height) + 1
    const end = this.close("]")
    return this.made(operatorNode("[]", [operand, index], { start: operand.start, end, nameStart }), height)
  }

  /** The arguments of a function or method. The name decides between a macro and a call. */
  private call(
    target: TreeNode | undefined,
    name: string,
    place: { readonly start: number; readonly nameStart: number; readonly nameEnd: number },
  ): TreeNode {
    let height = target === undefined ? 0 : this.height
    const args: TreeNode[] = []
    this.elements(")", () => {
      args.push(this.expression())
      height = Math.max(height, this.height)
    })
    const end = this.close(")")
    const { start, nameStart, nameEnd } = place
    const [first] = args
    if (
      name === "has" &&
      target === undefined &&
      args.length === 1 &&
      first?.kind === "select" &&
      !first.test
    ) {
      return this.made({ ...first, test: true, start, end }, height)
    }
    if (target !== undefined) {
      const report = (message: string, node: TreeNode) => this.report("syntax", message, node.start, node.end)
      const binding = this.extended
        ? bindingOf(target, name, args, { start, end, nameStart }, report)
        : undefined
      if (binding !== undefined) return this.made(binding, height + 3)
      const loop = loopOf(target, name, args, { start, end }, report)
      if (loop !== undefined) return this.made(loop, height + 1)
    }
    const form = target === undefined ? "function" : "method"
    return this.made(
      { kind: "call", form, name, nameStart, nameEnd, target, args, namespaced: undefined, start, end, type },
      height + 1,
    )
  }

  /** The elements between an opening bracket, which is the current token, and its closing one, separated by commas. */
  private elements(closer: ")" | "]" | "}", read: () => void): void {
    this.deeper()
    this.lexer.next()
    while (!this.isSign(closer) && !this.isSign("end")) {
      read()
      if (!this.isSign(",") && !this.isSign(closer)) this.recover(`expected \`,\` or \`${closer}\``)
      if (!this.isSign(",")) return
      this.lexer.next()
      if (closer === ")" && this.isSign(closer)) this.here("expected a value, found `)`")
    }
  }

  /** A list. */
  private list(): TreeNode {
    const { start } = this.lexer
    const elements: TreeNode[] = []
    let height = 0
    this.elements("]", () => {
      elements.push(this.expression())
      height = Math.max(height, this.height)
    })
    const end = this.close("]")
    return this.made({ kind: "list", elements, start, end, type }, height + 1)
  }

  /** A map. A missing colon is reported, and the value is read. */
  private map(): TreeNode {
    const { start } = this.lexer
    const entries: { key: TreeNode; value: TreeNode }[] = []
    let height = 0
    this.elements("}", () => {
      const key = this.expression()
      height = Math.max(height, this.height)
      if (this.isSign(":")) this.lexer.next()
      else this.here(`expected \`:\`, ${this.found()}`)
      entries.push({ key, value: this.expression() })
      height = Math.max(height, this.height)
    })
    const end = this.close("}")
    return this.made({ kind: "map", entries, start, end, type }, height + 1)
  }

  /** `Name{field: value}`: this language has no messages. */
  private message(name: TreeNode): TreeNode {
    const { start } = name
    this.report(
      "syntax",
      'messages are not available here; write a map as `{"key": value}`',
      start,
      this.lexer.end,
    )
    this.map()
    return this.gap(start, this.lexer.endBefore)
  }

  /** Consumes the closing bracket, or reports that it is missing. Returns the offset after it. */
  private close(closer: ")" | "]" | "}"): number {
    this.nesting--
    if (!this.isSign(closer)) this.recover(`expected \`${closer}\``)
    if (this.isSign(closer)) this.lexer.next()
    return this.lexer.endBefore
  }

  /** Reports an unexpected token and skips it. After `&&` and `||` it looks for more mistakes. */
  private recover(wanted: string): void {
    this.here(`${wanted}, ${this.found()}`)
    this.skip()
  }

  /** Skips to where the surrounding part can continue, so that one mistake gives one finding. */
  private skip(): void {
    let open = 0
    for (;;) {
      const { kind } = this.lexer
      if (kind === "end") return
      if (kind === "(" || kind === "[" || kind === "{") open++
      if (open === 0) {
        if (closers.has(kind) || kind === ",") return
        if (kind === "&&" || kind === "||") {
          this.lexer.next()
          this.expression()
          continue
        }
      } else if (closers.has(kind)) open--
      this.lexer.next()
    }
  }

  /** Reports what follows a complete expression. */
  private leftOver(): void {
    while (this.lexer.kind !== "end") {
      const { kind, start, end } = this.lexer
      const opener = openers.get(kind)
      const part = excerpt(this.source.slice(start, end))
      const message =
        opener === undefined
          ? `\`${part}\` is not allowed here`
          : `there is no \`${opener}\` for this \`${part}\``
      this.here(message)
      this.lexer.next()
      this.skip()
    }
  }
}
