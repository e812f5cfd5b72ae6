import type { ASTNode } from "@marcbachmann/cel-js"
import type { FindingKind } from "./finding.ts"
import type { CallNode, LoopNode, TreeNode } from "./syntax-tree.ts"
import { simpleTypes } from "./types.ts"
import { intMax, Uint } from "./values.ts"

/** Deepest tree: check, compilation and evaluation recurse, and this many levels are far from the end of the stack. */
const depthMax = 1000

/** Something the parser lets pass and the language does not. */
export class TreeError extends Error {
  readonly kind: FindingKind
  readonly start: number
  readonly end: number

  constructor(kind: FindingKind, message: string, start: number, end: number) {
    super(message)
    this.kind = kind
    this.start = start
    this.end = end
  }
}

const type = simpleTypes.dyn
const encoder = new TextEncoder()
const loopMacros: ReadonlyMap<string, readonly number[]> = new Map([
  ["all", [2]],
  ["exists", [2]],
  ["exists_one", [2]],
  ["filter", [2]],
  ["map", [2, 3]],
])

function operator(
  name: string,
  args: readonly TreeNode[],
  nameStart: number,
  { start, end }: { readonly start: number; readonly end: number },
): CallNode {
  const nameEnd = nameStart + name.length
  return {
    kind: "call",
    form: "operator",
    name,
    nameStart,
    nameEnd,
    target: undefined,
    args,
    start,
    end,
    type,
  }
}

class Converter {
  private readonly source: string

  constructor(source: string) {
    this.source = source
  }

  convert(node: ASTNode, depth: number): TreeNode {
    const { start, end } = node
    if (depth > depthMax) {
      throw new TreeError("limit", `the expression is nested more than ${depthMax} deep`, start, end)
    }
    const below = (child: ASTNode) => this.convert(child, depth + 1)
    switch (node.op) {
      case "value":
        return { kind: "literal", value: this.literal(node.args, start, end), start, end, type }
      case "id":
        return { kind: "name", name: node.args, start, end, type }
      case ".":
        return this.select(
          node.args[0],
          node.args[1],
          { start, end, fieldStart: node.pos, test: false },
          depth,
        )
      case "[]":
        return operator("[]", node.args.map(below), start, node)
      case "call":
        return this.call(node.args[0], undefined, node.args[1], node, depth)
      case "rcall":
        return this.call(node.args[0], node.args[1], node.args[2], node, depth)
      case "list":
        return { kind: "list", elements: node.args.map(below), start, end, type }
      case "map": {
        const entries = node.args.map(([key, value]) => ({ key: below(key), value: below(value) }))
        return { kind: "map", entries, start, end, type }
      }
      case "?:": {
        const [condition, whenTrue, whenFalse] = node.args
        const parts = { condition: below(condition), whenTrue: below(whenTrue), whenFalse: below(whenFalse) }
        return { kind: "conditional", ...parts, start, end, type }
      }
      case "||":
      case "&&": {
        const [left, right] = node.args
        return { kind: "logic", operator: node.op, left: below(left), right: below(right), start, end, type }
      }
      case "!_":
      case "-_":
        return this.unary(node.op === "!_" ? "!" : "-", node.args, node, depth)
      case ".?":
      case "[?]":
        throw new TreeError("syntax", "optional access is not part of the language", start, end)
      default:
        return this.binary(node.op, below(node.args[0]), below(node.args[1]), node)
    }
  }

  private select(
    operand: ASTNode,
    field: string,
    place: { start: number; end: number; fieldStart: number; test: boolean },
    depth: number,
  ): TreeNode {
    const fieldEnd = place.fieldStart + field.length
    return { kind: "select", operand: this.convert(operand, depth + 1), field, fieldEnd, ...place, type }
  }

  private literal(value: unknown, start: number, end: number): unknown {
    if (typeof value === "bigint") {
      if (value > intMax) throw new TreeError("type", "the number does not fit into an int", start, end)
      return value
    }
    if (value instanceof Uint8Array) return this.bytes(value, start, end)
    // What is left of objects is the parser's unsigned integer.
    return typeof value === "object" && value !== null ? new Uint(BigInt(String(value))) : value
  }

  /** The parser cuts characters beyond U+00FF in `b"…"` to a byte; the language wants their UTF-8. */
  private bytes(value: Uint8Array, start: number, end: number): Uint8Array {
    const raw = this.source.slice(start + 1, end)
    const marks = raw.startsWith('"""') || raw.startsWith("'''") ? 3 : 1
    const body = raw.slice(marks, -marks)
    if (!/[^\0-\x7f]/.test(body)) return value
    const parts: Uint8Array[] = []
    let index = 0
    for (const [part] of body.matchAll(/\\(?:[xX][0-9a-fA-F]{2}|[0-7]{3}|.)|[^\0-\x7f]+|[^\\\0-\x7f]/gsu)) {
      const plain = part.charCodeAt(0) > 0x7f
      parts.push(plain ? encoder.encode(part) : value.subarray(index, index + 1))
      index += plain ? part.length : 1
    }
    return new Uint8Array(Buffer.concat(parts))
  }

  private unary(name: "!" | "-", arg: ASTNode, place: ASTNode, depth: number): TreeNode {
    const { start, end } = place
    if (
      name === "-" &&
      arg.op === "value" &&
      (typeof arg.args === "bigint" || typeof arg.args === "number")
    ) {
      const value = -arg.args
      if (typeof value === "bigint" && value < -intMax - 1n) {
        throw new TreeError("type", "the number does not fit into an int", start, end)
      }
      return { kind: "literal", value, start, end, type }
    }
    return operator(name, [this.convert(arg, depth + 1)], start, place)
  }

  private binary(name: string, left: TreeNode, right: TreeNode, place: ASTNode): CallNode {
    return operator(name, [left, right], this.skip(left.end, true), place)
  }

  private call(
    name: string,
    target: ASTNode | undefined,
    args: readonly ASTNode[],
    place: ASTNode,
    depth: number,
  ): TreeNode {
    const { start, end } = place
    const [first, second, third] = args
    if (name === "has" && target === undefined && first?.op === "." && args.length === 1) {
      return this.select(
        first.args[0],
        first.args[1],
        { start, end, fieldStart: first.pos, test: true },
        depth,
      )
    }
    if (
      target !== undefined &&
      first?.op === "id" &&
      second !== undefined &&
      loopMacros.get(name)?.includes(args.length)
    ) {
      const mapped = third ?? second
      const test = name === "map" && third === undefined ? undefined : this.convert(second, depth + 1)
      return {
        kind: "loop",
        macro: name as LoopNode["macro"],
        range: this.convert(target, depth + 1),
        variable: first.args,
        test,
        result: name === "map" ? this.convert(mapped, depth + 1) : undefined,
        start,
        end,
        type,
      }
    }
    const receiver = target === undefined ? undefined : this.convert(target, depth + 1)
    const nameStart = receiver === undefined ? start : this.skip(this.skip(receiver.end, true) + 1, false)
    return {
      kind: "call",
      form: receiver === undefined ? "function" : "method",
      name,
      nameStart,
      nameEnd: nameStart + name.length,
      target: receiver,
      args: args.map((arg) => this.convert(arg, depth + 1)),
      start,
      end,
      type,
    }
  }

  /** The offset behind blanks, comments and (`closing`) parentheses, which the parser's nodes leave out. */
  private skip(from: number, closing: boolean): number {
    const pattern = closing ? /(?:[\s)]|\/\/[^\n]*)*/y : /(?:\s|\/\/[^\n]*)*/y
    pattern.lastIndex = from
    pattern.exec(this.source)
    return pattern.lastIndex
  }
}

/** Brings the parser's tree into ours, with the macros recognised. @throws TreeError */
export function convertTree(ast: ASTNode, source: string): TreeNode {
  return new Converter(source).convert(ast, 0)
}
