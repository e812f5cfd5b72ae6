import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, constant } from "./cel.ts"
import { none, shortName, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>

const callers: Readonly<Record<string, string>> = {
  "IProxyContext.Subscription": "subscription",
  "IProxyContext.Product": "product",
}

const note =
  "the converted text reads the caller's subscription: use it only in APIs with `auth subscription`"

/** Members of the caller's subscription and product. Returns undefined for other members. @throws NoCounterpart */
export function callerMember(node: Call, translation: Translation): Cel | undefined {
  const caller = Object.hasOwn(callers, node.member) ? callers[node.member] : undefined
  if (caller !== undefined) {
    translation.around.keyed()
    translation.notes.add(note)
    const absent = cel(`!has(${caller}.name) || ${caller}.name == ""`, "bool", { binds: binds.or })
    const present = cel(caller, "caller", { sure: true })
    return cel(caller, "caller", { total: false, nullable: true, absent, present })
  }
  if (!/^(?:ISubscription|IProduct)\./.test(node.member)) return undefined
  if (!/\.(?:Id|Name)$/.test(node.member)) return none(`\`${shortName(node.member)}\``)
  const on = node.on === undefined ? constant(null) : translation.node(node.on)
  if (on.kind !== "caller") return none(`\`${shortName(node.member)}\``)
  if (on.sure === true) return cel(`${on.text}.name`, "string")
  // Without a subscription, the name has no value in either language.
  return cel(`[${on.text}.name].filter(n, n != "")[0]`, "string", { total: false })
}
