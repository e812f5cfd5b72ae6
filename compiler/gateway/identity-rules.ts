import type { Authentication } from "../../runtime/plan/step-values.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { breaking, type Finding, opens } from "../analysis/finding.ts"
import { secretsIn } from "../analysis/text-findings.ts"

/** The meaning of a change of the identity that the gateway presents to a service; `whom`: that service. */
export function otherIdentity(
  whom: string,
): (before: Authentication | undefined, after: Authentication | undefined) => Finding[] {
  return (before, after) => {
    if (after === undefined) return [breaking(`${whom} no longer gets the credentials of the gateway`)]
    const as =
      after.scheme === "token"
        ? `\`${after.client}\``
        : after.scheme === "certificate"
          ? `\`${after.certificate}\``
          : "another user"
    if (before === undefined)
      return [
        opens(`the gateway now authenticates to ${whom} ${schemeWords[after.scheme]}`),
        ...secretsIn(secretOf(after)),
      ]
    return [
      before.scheme === after.scheme
        ? opens(`the gateway authenticates as ${as} to ${whom}`)
        : opens(
            `the gateway authenticates to ${whom} ${schemeWords[after.scheme]} instead of ${schemeWords[before.scheme]}`,
          ),
      ...secretsIn(secretOf(after), secretOf(before)),
    ]
  }
}

const schemeWords: Readonly<Record<Authentication["scheme"], string>> = {
  basic: "with a user and password",
  bearer: "with a bearer token",
  token: "with a client token",
  certificate: "with a certificate",
}

function secretOf(authentication: Authentication): Text | undefined {
  if (authentication.scheme === "basic") return authentication.password
  return authentication.scheme === "bearer" ? authentication.token : undefined
}
