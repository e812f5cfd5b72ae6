import { type CsType, named } from "../../../runtime/azure/csharp/type.ts"
import type { Scope } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import type { ExpressionSyntax } from "./syntax-tree.ts"
import { isNamespace, libraryName, resolveType } from "./type-names.ts"

/** The type that a chain of names refers to, or undefined. Variables take precedence over types. */
export function typeAt(expression: ExpressionSyntax, scope: Scope): CsType | undefined {
  if (expression.kind === "index" || (expression.kind !== "name" && expression.kind !== "member"))
    return undefined
  const path = pathOf(expression)
  if (path === undefined || scope.find(path.split(".")[0] as string) !== undefined) return undefined
  const found = libraryName(path)
  if (found === undefined) return undefined
  const args = (expression.types ?? []).map(resolveType)
  return args.length === 0 ? named(found) : { name: found, args }
}

function pathOf(expression: ExpressionSyntax): string | undefined {
  if (expression.kind === "name") return expression.name
  if (expression.kind !== "member") return undefined
  const before = pathOf(expression.on)
  return before === undefined ? undefined : `${before}.${expression.name}`
}

/**
 * Reports the whole type `System.Txt.X` as unknown, not just the name `System`. A member of a qualified type, such as
 * `System.Text.Encoding.UTF8`, is allowed.
 */
export function refuseNamespace(expression: ExpressionSyntax, scope: Scope): void {
  const path = pathOf(expression)
  if (path === undefined || beginsWithType(path)) return
  const first = path.split(".")[0] as string
  if (scope.find(first) !== undefined || first === "context" || !isNamespace(first)) return
  const last = path.slice(path.lastIndexOf(".") + 1)
  throw new CsharpMistake(
    "unknown-type",
    `unknown type \`${path}\``,
    expression.start,
    expression.end,
    `Use another type: policy expressions do not support \`${last}\`.`,
  )
}

function beginsWithType(path: string): boolean {
  const names = path.split(".")
  return names.some((_, count) => count > 0 && libraryName(names.slice(0, count).join(".")) !== undefined)
}
