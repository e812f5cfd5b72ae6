import type { Environment } from "./environment.ts"
import type { CallNode, Meaning, NameNode, TreeNode } from "./syntax-tree.ts"
import { typeNames } from "./type-names.ts"

interface NameChain {
  readonly root: NameNode
  /** All names, separated by dots. */
  readonly text: string
}

/** The names that form a node: `a`, `a.b.c`. Fields in backticks are not names. */
function nameChain(node: TreeNode, source: string): NameChain | undefined {
  const fields: string[] = []
  let part = node
  while (part.kind === "select") {
    if (part.test || source[part.fieldStart] === "`") return undefined
    fields.push(part.field)
    part = part.operand
  }
  if (part.kind !== "name") return undefined
  return { root: part, text: [part.name, ...fields.reverse()].join(".") }
}

interface LoopNames {
  isLocal(name: string): boolean
}

/** Resolves names. The caller handles loop variables first: they hide everything else. */
export class NameResolver {
  private readonly source: string
  private readonly environment: Environment
  private readonly loops: LoopNames

  constructor(source: string, environment: Environment, loops: LoopNames) {
    this.source = source
    this.environment = environment
    this.loops = loops
  }

  /** The meaning of a name or of a whole chain of names, except loop variables. */
  meaningOf(node: TreeNode): Meaning | undefined {
    const { variables, meanings, isQualified } = this.environment
    if (node.kind === "name") {
      return (isQualified ? undefined : meanings.get(node.name)) ?? this.find(node.name, node.rooted)
    }
    if (node.kind !== "select") return undefined
    const root = rootOf(node)
    if (root === undefined || (!isQualified && variables.has(root.name))) return undefined
    if (!root.rooted && this.loops.isLocal(root.name)) return undefined
    const chain = nameChain(node, this.source)
    return chain === undefined ? undefined : this.find(chain.text, root.rooted)
  }

  /** The meaning of a full name: a variable comes before a type. */
  private find(name: string, rooted: boolean): Meaning | undefined {
    const { meanings, prefixes } = this.environment
    for (const prefix of rooted ? [""] : prefixes) {
      const full = prefix + name
      const variable = meanings.get(full)
      if (variable !== undefined) return variable
      const type = typeNames.get(full)
      if (type !== undefined) return { kind: "type", name: type }
    }
    return undefined
  }

  /** The function of a method call whose target is a namespace and not a value: `strings.quote`. */
  namespacedFunction({ target, name }: CallNode): string | undefined {
    const root = target === undefined ? undefined : rootOf(target)
    if (target === undefined || root === undefined || this.environment.variables.has(root.name))
      return undefined
    if (!root.rooted && this.loops.isLocal(root.name)) return undefined
    const chain = nameChain(target, this.source)
    const full = `${chain?.text}.${name}`
    return chain !== undefined && this.environment.library.function.has(full) ? full : undefined
  }
}

function rootOf(node: TreeNode): NameNode | undefined {
  let part = node
  while (part.kind === "select") part = part.operand
  return part.kind === "name" ? part : undefined
}
