import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf } from "../bind/bound.ts"
import type { RouteScope } from "../routes.ts"

/**
 * Reports `mirror` on a route that says how its WebSockets are passed on, because only its other requests are copied. `chain`: scopes from the innermost
 * outwards. `once` is called for each pair of statements, which routes share.
 */
export function checkMirrors(
  items: readonly { readonly bound: BoundStatement }[],
  chain: readonly (RouteScope | undefined)[],
  once: (pair: readonly BoundStatement[], tell: () => void) => void,
  report: Report,
): void {
  const websocket = chain
    .map((scope) => statementOf(scope?.block, "websocket"))
    .find((each) => each !== undefined)
  if (websocket?.block === undefined) return
  for (const { bound } of items)
    for (const mirror of bound.row.keyword === "inbound" ? mirrorsIn(bound.block) : [])
      once([mirror, websocket], () =>
        report.add("SP3080", headSpan(mirror.statement), "WebSockets are not mirrored", {
          related: [{ span: websocket.statement.keyword.span, message: "`websocket`" }],
        }),
      )
}

/** The `mirror` statements of a block and of the blocks in it. */
function mirrorsIn(block: BoundBlock | undefined): BoundStatement[] {
  return (block?.statements ?? []).flatMap((each) =>
    each.row.keyword === "mirror" ? [each] : [...mirrorsIn(each.block), ...mirrorsIn(each.otherwise)],
  )
}
