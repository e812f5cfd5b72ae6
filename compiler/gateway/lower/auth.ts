import type { Report } from "../../core/diagnostic.ts"
import { type BoundStatement, headSpan } from "../bind/bound.ts"
import type { AuthForm } from "../credential-text.ts"
import type { Program } from "../program.ts"
import { lowerWays } from "../steps/any-of.ts"
import { authBasic } from "../steps/basic-auth.ts"
import { authIntrospection } from "../steps/introspect.ts"
import { authOidc } from "../steps/oidc-session.ts"
import { authCertificate } from "../steps/validate-certificate.ts"
import { authJwt } from "../steps/validate-jwt.ts"
import { authSubscription } from "../steps/validate-key.ts"
import type { Auth, AuthWay } from "./place.ts"
import { authHmac } from "./signature.ts"
import type { Lowered, StepContext } from "./step.ts"

/** The forms of `auth` that demand a credential, by their first word. */
const forms: Readonly<Record<string, Pick<AuthForm, "ways" | "lower">>> = {
  jwt: authJwt,
  introspection: authIntrospection,
  oidc: authOidc,
  basic: authBasic,
  certificate: authCertificate,
  subscription: authSubscription,
  hmac: authHmac,
}

/** What the `auth` statements of one scope provide. The ways are empty if the statements were not understood. */
export function authOf(statements: readonly BoundStatement[], program: Program, report: Report): Auth {
  const [first] = statements
  if (first === undefined) return { ways: [], span: undefined }
  const span = headSpan(first.statement)
  const ways = statements.map((each) => waysOf(each, program))
  const none = statements[ways.findIndex((found) => found?.[0]?.kind === "none")]
  if (none !== undefined && statements.length > 1) {
    const other = statements.find((each) => each !== none)
    report.add(
      "SP3007",
      headSpan(none.statement),
      "`auth none` lets every request through, so the other `auth` has no effect",
      {
        related:
          other === undefined ? [] : [{ span: headSpan(other.statement), message: "the other `auth`" }],
      },
    )
  }
  const policy = statements[ways.findIndex((found) => found?.[0]?.kind === "policy")]
  if (policy !== undefined && statements.length > 1)
    report.add(
      "SP2017",
      headSpan(policy.statement),
      "`auth policy` leaves authentication to the policy documents alone",
      {
        help: "Keep `auth policy`, or the other `auth` statements.",
      },
    )
  return { ways: ways.includes(undefined) ? [] : ways.flatMap((found) => found ?? []), span }
}

/** The `auth` step of an API: one way of authentication, or any of several; undefined for `auth none`. */
export function lowerAuth(
  statements: readonly BoundStatement[],
  api: string,
  context: StepContext,
): Lowered[] {
  const ways: Lowered[] = []
  const written: BoundStatement[] = []
  for (const each of statements) {
    const step = each.broken ? undefined : forms[wordOf(each)]?.lower(each, context, api)
    if (step === undefined) continue
    const lowered = context.steps.add(step, headSpan(each.statement))
    const output = "output" in step ? step.output : undefined
    ways.push(output === undefined ? lowered : { ...lowered, declares: { [output]: "dyn" as const } })
    written.push(each)
  }
  const [first] = statements
  const lowered = first && lowerWays(ways, written, headSpan(first.statement), context)
  return lowered === undefined ? [] : [lowered]
}

/** The word after `auth`. */
function wordOf({ statement }: BoundStatement): string {
  const [word] = statement.args
  return word?.kind === "word" ? word.text : ""
}

function waysOf(bound: BoundStatement, program: Program): AuthWay[] | undefined {
  if (bound.broken) return undefined
  const word = wordOf(bound)
  if (word === "none" || word === "policy") return [{ kind: word }]
  return forms[word]?.ways(bound, program)
}
