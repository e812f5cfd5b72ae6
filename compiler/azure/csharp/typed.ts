import { type CsType, named } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"

/** An expression that was checked: what it becomes, its type, and its value where that is a constant. */
export interface Typed {
  readonly node: CsNode
  readonly type: CsType
  readonly constant?: string | number | bigint | boolean | null
}

export const types = {
  object: named("object"),
  string: named("string"),
  int: named("int"),
  long: named("long"),
  double: named("double"),
  bool: named("bool"),
  char: named("char"),
  /** Of `null`, of `throw`, of what is known at run time alone, and of what gives nothing. */
  null: named("null"),
  never: named("never"),
  dynamic: named("dynamic"),
  void: named("void"),
} as const

export function typed(node: CsNode, type: CsType): Typed {
  return { node, type }
}
