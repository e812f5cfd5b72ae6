import type { Plan } from "../../plan/plan.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../../policies/exchange.ts"

/** Who a backend takes us for by what its declaration says, in words without a secret; undefined: it says nothing. */
export function backendIdentity({ plan }: Plan, { backend }: Exchange): string | undefined {
  const name = backend?.name ?? ""
  const declared = Object.hasOwn(plan.backends, name) ? plan.backends[name] : undefined
  const { authentication, tls } = declared ?? {}
  const shown = [
    ...(authentication === undefined
      ? []
      : [authentication.scheme === "basic" ? "a user with a password" : tokenWords(authentication.client)]),
    ...(tls?.certificate === undefined ? [] : [`certificate \`${tls.certificate}\``]),
  ]
  return shown.length === 0 ? undefined : `\`${name}\` is shown ${shown.join(" and ")}`
}

/** Who an `authenticate` that ran says we are, in words without a secret. */
export function stepIdentity({ authentication, output }: StepOf<"authenticate">, exchange: Exchange): string {
  const shown = output === undefined ? "the backend is shown" : `\`${output}\` has`
  switch (authentication.scheme) {
    case "token":
      return `${shown} ${tokenWords(authentication.client)}`
    case "certificate":
      return `${shown} certificate \`${authentication.certificate}\``
    case "bearer":
      return `${shown} a bearer token of the configuration`
    case "basic":
      return `${shown} user \`${userOf(output === undefined ? exchange.headers.get("authorization") : exchange.variables.get(output))}\` with a password`
  }
}

function tokenWords(client: string): string {
  return `a token of client \`${client}\`, which is not got here`
}

/** Of a field `Basic …`, or of what comes behind the scheme. */
function userOf(authorization: unknown): string {
  const text = Buffer.from(String(authorization).replace(/^Basic /, ""), "base64").toString("utf8")
  return text.slice(0, Math.max(0, text.indexOf(":")))
}
