import { isReservedInExpressions } from "../../gateway/bind/names.ts"
import { azure } from "../wing.ts"

/** Converts a name to a valid name for variables and values of gateway.conf. */
export function valueName(name: string): string {
  const plain = azure.declaredAs(name).slice(0, 100)
  return isReservedInExpressions(plain) ? `${plain}_value` : plain
}

/** Keeps letters, digits and `_` of a text. `otherwise` is the name when nothing is left. */
export function plainName(text: string, otherwise: string): string {
  const plain = text
    .replace(/[^A-Za-z0-9_]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60)
  return plain === "" ? otherwise : plain.replace(/^(?=\d)/, `${otherwise}_`)
}

/** The name that was given to a key, or a new one. No two keys get the same name. */
export function unique(names: Map<string, string>, key: string, wanted: string): string {
  const known = names.get(key)
  if (known !== undefined) return known
  const taken = new Set(names.values())
  let name = wanted
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`
  names.set(key, name)
  return name
}
