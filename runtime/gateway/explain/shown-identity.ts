import type { Plan } from "../../plan/plan.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../../policies/exchange.ts"

/** The identity that a backend sees according to its declaration, in words without secrets; undefined: none. */
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
  return shown.length === 0 ? undefined : `\`${name}\` gets ${shown.join(" and ")}`
}

/** The identity that an `authenticate` step uses, in words without secrets. */
export function stepIdentity({ authentication, output }: StepOf<"authenticate">, exchange: Exchange): string {
  const shown = output === undefined ? "the backend gets" : `\`${output}\` contains`
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
  return `a token of client \`${client}\`, which is not requested here`
}

/** The user of a `Basic …` field, or of the part after the scheme. */
function userOf(authorization: unknown): string {
  const text = Buffer.from(String(authorization).replace(/^Basic /, ""), "base64").toString("utf8")
  return text.slice(0, Math.max(0, text.indexOf(":")))
}
