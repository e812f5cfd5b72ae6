import type { StepOf } from "../../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import { type BoundStatement, statementOf } from "../bind/bound.ts"
import {
  type AuthForm,
  authText,
  claimChanges,
  messageRules,
  refusalTexts,
  tokenTexts,
} from "../credential-text.ts"
import { lowerClaimRules, lowerSaid } from "../lower/caller-token.ts"
import { claimsOfIssuer } from "../lower/issuer.ts"
import type { ClaimTypes } from "../lower/place.ts"
import type { StepContext } from "../lower/step.ts"
import { countText } from "../print.ts"
import type { Program } from "../program.ts"
import { slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

/** `auth oidc NAME { … }`. `jwt` has the claims of the ID token, or those of the access token. */
export const authOidc: AuthForm = {
  form: { args: [word("oidc"), slot("client", "reference", { to: ["oidc"] })], block: "auth oidc" },
  ways: ({ args }, program) => {
    const claims = claimsOf(args.word("client")?.text, program)
    // An unknown client is reported by the binder; without its claims nothing more can be checked.
    return claims === undefined ? undefined : [{ kind: "jwt", by: "oidc", claims }]
  },
  lower: lowerSession,
}

/** The claims that the issuer of a client declares. */
function claimsOf(client: string | undefined, program: Program): ClaimTypes | undefined {
  const declared = client === undefined ? undefined : program.find("oidc", client)
  const issuer = statementOf(declared?.bound.block, "issuer")?.args.word("issuer")?.text
  const found = issuer === undefined ? undefined : program.find("issuer", issuer)
  return found && claimsOfIssuer(found)
}

function lowerSession(bound: BoundStatement, context: StepContext): StepOf<"oidc-session"> | undefined {
  const { block, args } = bound
  const client = args.word("client")?.text
  const known = claimsOf(client, context.program)
  if (client === undefined || known === undefined) return undefined
  const claims = lowerClaimRules(block, [known], context)
  const said = lowerSaid(block, context)
  const forward = statementOf(block, "forward")?.args.value<"access-token" | "id-token">("token")
  const from = statementOf(block, "claims-from")?.args.value<"access-token" | "id-token">("token")
  if (claims === undefined || said === undefined) return undefined
  const { status, claimStatus, message } = said
  return {
    kind: "oidc-session",
    ...{ client, claims },
    ...(from === "access-token" ? { claimsFrom: from } : {}),
    ...(forward === undefined ? {} : { forward }),
    ...{ status, claimStatus },
    ...(message === undefined ? {} : { message }),
  }
}

/** Printing and comparison of a step that demands a session. */
export const oidcSession: StepText<"oidc-session"> = {
  print: (step, printing) =>
    authText(
      printing,
      `oidc ${step.client}`,
      // Only the claims: a session has neither a place nor an audience.
      tokenTexts({ claims: step.claims, from: bearer, audiences: undefined }, printing),
      step.claimsFrom !== undefined && `claims-from ${step.claimsFrom}`,
      step.forward !== undefined && `forward ${step.forward}`,
      refusalTexts({ ...step, output: undefined }, printing),
    ),
  identities: () => ["auth"],
  added: ({ client, status }) =>
    closes(`requests without a session of \`${client}\` now get a login, or ${countText(status)}`),
  removed: ({ client }) => opens(`requests without a session of \`${client}\` are now let through`),
  changed: {
    ...messageRules,
    claims: claimChanges,
    claimStatus: (before, after) =>
      breaking(
        `users without the required claims now get ${countText(after)} instead of ${countText(before)}`,
      ),
    claimsFrom: (_, after) => {
      const token = tokenWords(after ?? "id-token")
      return [
        opens(`the claims of the ${token} decide now: users may be let in who were not`),
        breaking(`users whose ${token} lacks the required claims are no longer let in`),
      ]
    },
    client: (before, after) => [
      opens(`sessions of \`${after}\` are now accepted`),
      breaking(`sessions of \`${before}\` are no longer accepted`),
    ],
    forward: (before, after) =>
      after === undefined
        ? breaking(`the backend no longer gets the ${tokenWords(before)} of the user`)
        : before === undefined
          ? [neutral(`the backend now gets the ${tokenWords(after)} of the user`)]
          : breaking(`the backend now gets the ${tokenWords(after)} instead of the ${tokenWords(before)}`),
    status: (before, after) =>
      breaking(`requests without a session now get ${countText(after)} instead of ${countText(before)}`),
  } satisfies FieldRules<Fields<"oidc-session">>,
  way: {
    credential: ({ client }) => `a session of \`${client}\``,
    ways: (step) => [step],
    schemes: ({ client }) => [
      [
        `session_${client}`,
        {
          type: "apiKey",
          in: "cookie",
          name: `__Host-sallyport-${client}`,
          description: "A login in the browser",
        },
      ],
    ],
  },
}

const bearer = { header: "authorization", scheme: "Bearer" } as const

function tokenWords(token: string | undefined): string {
  return token === "id-token" ? "ID token" : "access token"
}
