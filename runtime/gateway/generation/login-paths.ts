import type { PlanBody } from "../../plan/plan.ts"
import { namedBy, nestedSteps, type Step, type StepId } from "../../plan/steps.ts"
import { HostRoutes } from "../routes/host-routes.ts"

/** A path that the gateway serves for an OIDC client. */
export interface LoginPath {
  /** Name of the client in the plan. */
  readonly client: string
  readonly does: "login" | "callback" | "logout" | "back-channel-logout"
}

interface PathRoute extends LoginPath {
  readonly method: "*"
  readonly path: string
  readonly hosts: readonly string[] | undefined
  readonly protection: string
}

/** The methods of each path. */
export const loginMethods: Readonly<Record<LoginPath["does"], readonly string[]>> = {
  login: ["GET"],
  callback: ["GET"],
  logout: ["GET", "POST"],
  "back-channel-logout": ["POST"],
}

/** The paths of all OIDC clients, each on the hosts of the routes that use its client. */
export class LoginPaths {
  readonly #routes = new HostRoutes<PathRoute>()

  /** @throws Error when two clients have the same path on one host */
  constructor(plan: PlanBody) {
    for (const [client, hosts] of hostsOf(plan)) {
      const found = plan.oidcClients?.[client]
      if (found === undefined) continue
      const paths = { ...found.paths, "back-channel-logout": found.backChannelLogout }
      for (const does of Object.keys(loginMethods) as LoginPath["does"][]) {
        const path = paths[does]
        if (path === undefined) continue
        const on = hosts === "every" ? undefined : [...hosts].sort()
        this.#routes.add({ client, does, method: "*", path, protection: client, hosts: on })
      }
    }
  }

  /** What is at a canonical path; undefined: it belongs to the routes. */
  find(path: string, authority: string): LoginPath | undefined {
    const match = this.#routes.find("GET", path, authority)
    return match.kind === "found" ? match.route : undefined
  }
}

/** The hosts of the routes that use a client. */
function hostsOf({ routes, steps }: PlanBody): Map<string, Set<string> | "every"> {
  const found = new Map<string, Set<string> | "every">()
  for (const { hosts, sections } of Object.values(routes))
    for (const client of clientsIn(sections.inbound, steps)) {
      const known = found.get(client) ?? new Set<string>()
      if (hosts === undefined || known === "every") found.set(client, "every")
      else found.set(client, new Set([...known, ...hosts]))
    }
  return found
}

/** The clients whose sessions the steps require. */
function clientsIn(ids: readonly StepId[], steps: Readonly<Record<StepId, Step>>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const id of ids) {
    const step = steps[id]
    if (step === undefined) continue
    for (const client of namedBy([step], "oidcClients")) found.add(client)
    for (const nested of nestedSteps(step))
      for (const client of clientsIn(nested.steps, steps)) found.add(client)
  }
  return found
}
