import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { namedBy } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { statementOf, statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { lowerOidcClients } from "./oidc-clients.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

const defaultCacheMs = 30_000

/** Introspection endpoints, user tables and OIDC clients that steps use, with the secrets they need. All declarations are checked. */
export function lowerCallerCredentials(
  program: Program,
  values: Values,
  steps: PlanBody["steps"],
  report: Report,
): Pick<PlanBody, "introspections" | "users" | "oidcClients"> {
  const all = Object.values(steps)
  const introspections = lowerIntrospections(program, values, namedBy(all, "introspections"), report)
  const users = lowerUsers(program, values, namedBy(all, "users"), report)
  values.needIn(introspections)
  return {
    ...(Object.keys(introspections).length === 0 ? {} : { introspections }),
    ...(Object.keys(users).length === 0 ? {} : { users }),
    ...lowerOidcClients({ program, values, report }, steps),
  }
}

/** Introspection endpoints that a route uses; unused ones would be read, with their secrets, for nothing. */
function lowerIntrospections(
  program: Program,
  values: Values,
  used: ReadonlySet<string>,
  report: Report,
): NonNullable<PlanBody["introspections"]> {
  const found: NonNullable<PlanBody["introspections"]> = {}
  for (const { name, bound } of program.all("introspection")) {
    const url = lowerUrl(statementOf(bound.block, "url")?.args.text("url"), values, report)
    const said = statementOf(bound.block, "client")?.args
    const at = said?.text("client")
    const client = at === undefined ? undefined : at.kind === "word" ? at.text : values.loadText(at)
    const secret = said?.word("secret")?.text
    if (url === undefined || client === undefined || secret === undefined || !used.has(name)) continue
    const cacheMs = statementOf(bound.block, "cache")?.args.value<number>("time") ?? defaultCacheMs
    values.needSecret(secret)
    found[name] = { url, client, secret, cacheSeconds: cacheMs / 1000 }
  }
  return found
}

/** Users of basic authentication. A name cannot contain a colon, because the colon separates it from the password (RFC 7617). */
function lowerUsers(
  program: Program,
  values: Values,
  used: ReadonlySet<string>,
  report: Report,
): NonNullable<PlanBody["users"]> {
  const found: NonNullable<PlanBody["users"]> = {}
  for (const { name, bound } of program.all("users")) {
    const users = new Map<string, string>()
    for (const { args } of statementsOf(bound.block, "user")) {
      const [at, secret] = [args.text("user"), args.word("secret")?.text]
      const user = at === undefined ? undefined : at.kind === "word" ? at.text : values.loadText(at)
      if (at === undefined || user === undefined || secret === undefined) continue
      if (typeof user !== "string" || !/^[^:\p{Cc}]{1,256}$/u.test(user))
        report.add("SP2010", at.span, "this is not a valid user name (RFC 7617)", {
          help: "Write a constant string of at most 256 characters without a colon.",
        })
      else if (users.has(user)) report.add("SP2016", at.span, `the user \`${user}\` is given twice`)
      else users.set(user, secret)
    }
    if (!used.has(name) || users.size === 0) continue
    for (const secret of users.values()) values.needSecret(secret)
    found[name] = {
      users: [...users].sort(([a], [b]) => (a < b ? -1 : 1)).map(([user, secret]) => ({ user, secret })),
    }
  }
  return found
}
