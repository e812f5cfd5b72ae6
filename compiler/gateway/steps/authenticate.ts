import { breaking, neutral, opens } from "../../analysis/finding.ts"
import { noOwnCredentials } from "../../analysis/message-rules.ts"
import { headSpan } from "../bind/bound.ts"
import { otherIdentity } from "../identity-rules.ts"
import { lowerAuthentication } from "../lower/authentication.ts"
import { authenticationText, statement } from "../print.ts"
import { stepIdentityForms } from "../schema/credentials.ts"
import { optional, slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

/** `authenticate basic "user" SECRET`, `authenticate token NAME as variable`, `authenticate certificate NAME` */
export const authenticateStatement: StatementDefinition = {
  row: {
    keyword: "authenticate",
    several: true,
    forms: stepIdentityForms(optional(word("as"), slot("variable", "value-name", { label: "NAME" }))),
    docs: "Sends the credentials of the gateway to the backend of the request; with `as` the token is stored in a variable instead. Credentials for one backend belong in its `backend` block.",
    example: "authenticate token stock",
  },
  lower: (bound, context) => {
    const authentication = lowerAuthentication(bound, context)
    if (authentication === undefined) return undefined
    const output = bound.args.value<string>("variable")
    const step = {
      kind: "authenticate" as const,
      authentication,
      ...(output === undefined ? {} : { output }),
    }
    const lowered = context.steps.add(step, headSpan(bound.statement))
    return output === undefined ? lowered : { ...lowered, declares: { [output]: "string" } }
  },
}

/** Printing and comparison of a step that authenticates the gateway to the backend. */
export const authenticate: StepText<"authenticate"> = {
  print: ({ authentication, output, outputAs }, printing) => {
    if (outputAs !== undefined) printing.lacks("a token that is stored as an object")
    return statement(`${authenticationText(authentication)}${output === undefined ? "" : ` as ${output}`}`)
  },
  identities: () => ["authenticate"],
  added: ({ output }) =>
    output === undefined
      ? opens("callers reach the backend with the credentials of the gateway")
      : neutral("a token is requested"),
  removed: ({ output, authentication }) => {
    if (output !== undefined) return neutral("a token is no longer requested")
    return authentication.scheme === "certificate"
      ? breaking("the backend no longer gets the credentials of the gateway")
      : noOwnCredentials("the backend")
  },
  changed: {
    authentication: otherIdentity("the backend"),
    output: (before, after) => {
      if (after === undefined) return opens("callers reach the backend with the credentials of the gateway")
      return before === undefined
        ? breaking(`the backend no longer gets the token of the gateway: it goes to \`${after}\``)
        : neutral(`the token goes to \`${after}\``)
    },
    outputAs: (_, after) =>
      neutral(
        after === undefined
          ? "the token is stored as a string"
          : "the token is stored as an object with `accessToken`",
      ),
  },
}
