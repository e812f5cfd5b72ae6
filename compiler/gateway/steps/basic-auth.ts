import type { StepOf } from "../../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { type BoundStatement, statementOf } from "../bind/bound.ts"
import { type AuthForm, authText, messageRules } from "../credential-text.ts"
import { lowerSaid } from "../lower/caller-token.ts"
import type { StepContext } from "../lower/step.ts"
import { countText, messageText, statusText } from "../print.ts"
import { refusalMessage, refusalStatus } from "../schema/refusal.ts"
import { type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

/** `auth basic USERS { … }`. `jwt` has the user's name. */
export const authBasic: AuthForm = {
  form: {
    args: [word("basic"), slot("users", "reference", { to: ["users"], label: "USERS" })],
    block: "auth basic",
  },
  // The same shape as a token with the claim `sub`, so that `require` and `limit` work with both.
  ways: () => [{ kind: "jwt", by: "basic", claims: { sub: "string" } }],
  lower: lowerBasic,
}

/** The statements in the block of `auth basic`. */
export const authBasicRows: readonly StatementRow[] = [
  {
    keyword: "realm",
    forms: [{ args: [slot("realm", "constant", { max: 128 })] }],
    byDefault: "the name of the table of users",
    docs: "What browsers show when they ask for the password.",
    example: 'realm "Acme partners"',
  },
  refusalStatus("401", "Status of the response without a valid password."),
  refusalMessage,
  {
    keyword: "forward",
    forms: [{ args: [] }],
    docs: "Sends user and password on to the backend.",
    example: "forward",
  },
]

/** The realm is sent in a quoted string of `WWW-Authenticate`, so it cannot contain quotes and backslashes. */
function lowerBasic(bound: BoundStatement, context: StepContext): StepOf<"basic-auth"> | undefined {
  const users = bound.args.word("users")?.text
  const { block } = bound
  const realmAt = statementOf(block, "realm")?.args
  const realm = realmAt?.value<string>("realm") ?? users
  const said = lowerSaid(block, context)
  if (users === undefined || realm === undefined || said === undefined) return undefined
  if (!/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(realm)) {
    const span = realmAt?.get("realm")?.argument.span
    context.report.add(
      "SP2010",
      span,
      "a realm can only contain ASCII characters except quotes and backslashes",
      {
        help: "Write a realm without these characters.",
      },
    )
    return undefined
  }
  const { status, message } = said
  return {
    kind: "basic-auth",
    // A name of a plan's table and no password: those are references to secrets.
    users,
    realm,
    status,
    ...(message === undefined ? {} : { message }),
    forward: statementOf(block, "forward") !== undefined,
  }
}

/** Printing and comparison of a step that demands a user and password. */
export const basicAuth: StepText<"basic-auth"> = {
  print: ({ users, realm, status, message, forward }, printing) =>
    authText(
      printing,
      `basic ${users}`,
      realm !== users && `realm ${textWords(realm)}`,
      statusText(status, 401, printing),
      messageText(message),
      forward && "forward",
    ),
  identities: () => ["auth"],
  added: ({ users, status }) => closes(`callers other than \`${users}\` now get ${countText(status)}`),
  removed: () => opens("requests without user and password are now let through"),
  changed: {
    ...messageRules,
    users: () => opens("another table of users decides who may call"),
    realm: () => neutral("the password prompt shows another realm"),
    status: (before, after) =>
      breaking(
        `requests without a valid password now get ${countText(after)} instead of ${countText(before)}`,
      ),
    forward: (_, after) =>
      after
        ? opens("the backend sees the caller's password")
        : closes("the backend does not see the caller's password"),
  } satisfies FieldRules<Fields<"basic-auth">>,
  way: {
    credential: ({ users }) => `a password of \`${users}\``,
    ways: (step) => [step],
    schemes: ({ users }) => [[`basic_${users}`, { type: "http", scheme: "basic" }]],
  },
}
