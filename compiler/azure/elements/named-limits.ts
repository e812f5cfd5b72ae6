import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"

/** Limits of children that are for this API or this operation: ` of orders` names them in counters. Others are for other routes. */
export function scopedLimits(
  use: Use,
  limit: (use: Use, what: string) => Used[] | undefined,
): (Used[] | undefined)[] {
  const { api, operation } = use.context.place
  return use.children("api").flatMap((each) => {
    const name = nameOf(each)
    if (name === undefined) return [undefined]
    if (name !== api) {
      warnOfUnknown(each, name)
      return []
    }
    const operations = each.children("operation").flatMap((child) => {
      const called = nameOf(child)
      if (called === undefined) return [undefined]
      if (!/^[A-Z]+ \//.test(called))
        return [
          child.report(
            "SP7011",
            child.at,
            `no operation is called \`${shown(called)}\``,
            `Name it by method and path, e.g. \`${operation}\`, or write the limit into the document of the operation.`,
          ),
        ]
      return called === operation ? [limit(child, ` of ${api} ${operation}`)] : []
    })
    return [limit(each, ` of ${api}`), ...operations]
  })
}

/** A limit of an API that there is nowhere limits nothing: names are those of gateway.conf, and not those that portals show. */
function warnOfUnknown(use: Use, name: string): void {
  const { report } = use.context.surroundings
  const apis = use.context.surroundings.apis()
  if (apis === undefined || apis.includes(name)) return
  report.add(
    "SP7019",
    use.spanOf(use.has("id") ? "id" : "name"),
    `this limits nothing: no API is called \`${shown(name)}\`${didYouMean(name, apis)}`,
    { help: "Name the API as gateway.conf does." },
  )
}

/** `id` counts before `name`. */
function nameOf(use: Use): string | undefined {
  if (use.has("id") || use.has("name")) return use.constant(use.has("id") ? "id" : "name")
  return use.report("SP7008", use.at, `\`${use.element.name}\` has neither \`id\` nor \`name\``, "Add one.")
}
