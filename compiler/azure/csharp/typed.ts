import { type CsType, named } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"

/** A checked expression: its node, its type, and its value if it is constant. */
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
  /** The types of `null`, of `throw`, of values only known at run time, and of expressions without a value. */
  null: named("null"),
  never: named("never"),
  dynamic: named("dynamic"),
  void: named("void"),
} as const

export function typed(node: CsNode, type: CsType): Typed {
  return { node, type }
}
