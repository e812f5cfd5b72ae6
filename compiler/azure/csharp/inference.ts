import { lineage } from "../../../runtime/azure/csharp/table.ts"
import type { CsType } from "../../../runtime/azure/csharp/type.ts"

/** The type parameters found so far. */
export type Bound = Map<string, CsType>

/** Learns what the type parameters `names` in `wanted` are from an argument's type. What does not fit is found out later. */
export function infer(wanted: CsType, given: CsType, names: ReadonlySet<string>, bound: Bound): void {
  if (["null", "never"].includes(given.name)) return
  if (names.has(wanted.name) && wanted.args.length === 0) {
    const known = bound.get(wanted.name)
    // Of several arguments the first that is no plain object decides.
    if (known === undefined || known.name === "object") bound.set(wanted.name, given)
    return
  }
  if (wanted.args.length === 0) return
  if (wanted.name === "?" && given.name !== "?") {
    infer(wanted.args[0] as CsType, given, names, bound)
    return
  }
  const match = lineage(given).find(
    (base) => base.name === wanted.name && base.args.length === wanted.args.length,
  )
  if (match !== undefined)
    wanted.args.forEach((arg, index) => {
      infer(arg, match.args[index] as CsType, names, bound)
    })
}

/** Whether a type still holds parameters nobody has found. */
export function isOpen(
  type: CsType,
  names: ReadonlySet<string>,
  bound: ReadonlyMap<string, CsType>,
): boolean {
  if (type.args.length === 0) return names.has(type.name) && !bound.has(type.name)
  return type.args.some((arg) => isOpen(arg, names, bound))
}
