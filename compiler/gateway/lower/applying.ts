import { type BoundStatement, statementOf } from "../bind/bound.ts"
import type { RouteScope, RouteSource } from "../routes.ts"
import { pathFormKeywords } from "../schema/scopes.ts"
import type { Item } from "./scope.ts"

/** A statement that has an effect on a route, and the block that it comes from: `api orders`, `product gold`, `api orders policy shared`. */
export interface ApplyingStatement {
  readonly bound: BoundStatement
  readonly scope: string
  /** It stands in the block of the operation. */
  readonly own: boolean
}

/** Of these, only those of the innermost scope count. */
const nearestOnly = ["cors", "compress", "cache"]

/** Statements that are looked up from the operation outwards: the nearest counts. */
const lookedUp = ["backend", "timeout", "websocket", "mock", ...pathFormKeywords]

/** The statements that have an effect on a route, the outermost first. `auth`: those that authenticate it. `answers`: it needs no backend. */
export function applyingTo(
  source: RouteSource,
  items: readonly Item[],
  auth: readonly Item[],
  answers: boolean,
): readonly ApplyingStatement[] {
  const { api, version, operation } = source.scopes
  const counted = items.filter((item) => {
    const { keyword } = item.bound.row
    if (item.bound.broken || keyword === "auth") return false
    return (
      !nearestOnly.includes(keyword) || items.findLast(({ bound }) => bound.row.keyword === keyword) === item
    )
  })
  const found = [...auth, ...counted].map(
    ({ bound, scope, depth, via }): ApplyingStatement => ({
      ...{ bound, scope: depth === 4 && via.length > 0 ? `policy ${via.at(-1)}` : scope },
      own: depth === 4 && via.length === 0,
    }),
  )
  const chain = [operation, version, api].filter((scope) => scope !== undefined)
  return [...found, ...nearestIn(chain, answers), ...validationsIn(chain)]
}

function nearestIn(chain: readonly RouteScope[], answers: boolean): ApplyingStatement[] {
  return lookedUp.flatMap((keyword): ApplyingStatement[] => {
    if (answers && keyword === "backend") return []
    for (const scope of chain) {
      const bound = statementOf(scope.block, keyword)
      if (bound !== undefined) return [{ bound, scope: scope.label, own: scope === chain[0] }]
    }
    return []
  })
}

/** The nearest `validate` of each message. */
function validationsIn(chain: readonly RouteScope[]): ApplyingStatement[] {
  return ["request", "response"].flatMap((message): ApplyingStatement[] => {
    for (const scope of chain) {
      const bound = scope.block?.statements.find(({ row, statement: { args }, broken }) => {
        const [first] = args
        return row.keyword === "validate" && !broken && first?.kind === "word" && first.text === message
      })
      if (bound !== undefined) return [{ bound, scope: scope.label, own: scope === chain[0] }]
    }
    return []
  })
}
