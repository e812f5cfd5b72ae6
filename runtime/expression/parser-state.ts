import type { ExpressionFinding, FindingKind } from "./finding.ts"
import { type CelTokenKind, Lexer } from "./lexer.ts"
import { excerpt } from "./source-characters.ts"
import type { TreeNode } from "./syntax-tree.ts"
import { simpleTypes } from "./types.ts"

/** Deepest nesting of brackets: the parser recurses there. */
const nestingMax = 100
/** Deepest tree: check, compilation and evaluation recurse, and this depth is far from a stack overflow. */
const heightMax = 1000
const nodesMax = 5000
const findingsMax = 20

/** Thrown if parsing cannot continue. The reason is among the findings. */
export const StopParsing = Symbol("stop")

const type = simpleTypes.dyn

/** The state of a parser: the current token, the findings, and the size of the tree. */
export class ParserState {
  readonly findings: ExpressionFinding[] = []
  protected readonly source: string
  protected readonly lexer: Lexer
  protected nesting = 0
  protected nodes = 0
  /** Height of the tree that was parsed last. */
  protected height = 0

  constructor(source: string) {
    this.source = source
    this.lexer = new Lexer(source, this)
  }

  /** Records a mistake found by the lexer. */
  mistake(message: string, start: number, end: number): void {
    this.report("syntax", message, start, end)
  }

  protected report(kind: FindingKind, message: string, start: number, end: number): void {
    const last = this.findings.at(-1)
    // A mistake at the place of the last one is its consequence.
    if (last !== undefined && (start < last.end || start === last.start)) return
    this.findings.push({ kind, message, start, end })
    if (this.findings.length >= findingsMax) throw StopParsing
  }

  protected limit(message: string, start: number, end: number): never {
    this.findings.push({ kind: "limit", message, start, end })
    throw StopParsing
  }

  protected found(): string {
    const { kind, start, end } = this.lexer
    return kind === "end" ? "but the expression ends" : `found \`${excerpt(this.source.slice(start, end))}\``
  }

  protected here(message: string): void {
    this.report("syntax", message, this.lexer.start, this.lexer.end)
  }

  protected made<Node extends TreeNode>(node: Node, height: number): Node {
    this.height = height
    if (++this.nodes > nodesMax)
      this.limit(`the expression has more than ${nodesMax} parts`, node.start, node.end)
    if (height > heightMax)
      this.limit(`the expression is nested more than ${heightMax} levels deep`, node.start, node.end)
    return node
  }

  /** A placeholder for a missing or wrong part. */
  protected gap(start: number, end: number): TreeNode {
    return this.made({ kind: "literal", value: null, start, end, type }, 1)
  }

  protected deeper(): void {
    if (++this.nesting <= nestingMax) return
    const { start, end } = this.lexer
    this.limit(`the expression is nested more than ${nestingMax} levels deep`, start, end)
  }

  protected isSign(kind: CelTokenKind): boolean {
    return this.lexer.kind === kind
  }
}
