import type { MachineToken, Subscription } from "../../../runtime/control/api.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { visible } from "../../render/width.ts"
import type { Remote } from "../remote.ts"

const namesShown = 5

/**
 * What was made through the APIs and is in no text: subscriptions, tokens and stores. No apply removes it. Empty without any; what the caller may not
 * see is left out.
 */
export async function madeAtRunTime(remote: Remote, running: PlanBody | undefined): Promise<string> {
  const [subscriptions, tokens, stores] = await Promise.all([
    listed<{ subscriptions: Subscription[] }>(remote, "/v1/subscriptions?limit=500"),
    listed<{ tokens: MachineToken[] }>(remote, "/v1/tokens"),
    listed<{ stores: { name: string }[] }>(remote, "/authz/stores?page_size=100"),
  ])
  const declared = running?.authz?.stores ?? {}
  const rows: readonly (readonly [string, readonly string[], string])[] = [
    [
      "subscriptions",
      (subscriptions?.subscriptions ?? []).flatMap(({ name, source }) => (source === "issued" ? [name] : [])),
      "sallyport subscription delete",
    ],
    [
      "stores",
      (stores?.stores ?? []).flatMap(({ name }) => (Object.hasOwn(declared, name) ? [] : [name])),
      "DELETE /authz/stores/{id}",
    ],
    ["tokens", (tokens?.tokens ?? []).map(({ name }) => name), "sallyport control-token revoke"],
  ]
  const lines = rows.flatMap(([what, names, remove]) =>
    names.length === 0 ? [] : [`  ${what.padEnd(13)}  ${namesText(names)} (\`${remove}\`)\n`],
  )
  return lines.length === 0
    ? ""
    : `\nMade at run time, not in the text. \`apply\` keeps it; to remove it:\n${lines.join("")}`
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, namesShown).map(visible).join(", ")
  return names.length > namesShown ? `${shown} and ${names.length - namesShown} more` : shown
}

async function listed<Body>(remote: Remote, path: string): Promise<Body | undefined> {
  const { status, body } = await remote.request("GET", path)
  return status === 200 ? (body as Body) : undefined
}
