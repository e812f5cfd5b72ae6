import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { breaking, closes, type Finding, opens } from "../analysis/finding.ts"
import { listWords } from "../analysis/words.ts"
import { type AccessKind, countWordsOf } from "./access-words.ts"

type Effects<Kinds extends StepKind> = {
  readonly [Kind in Kinds]: (step: StepOf<Kind>) => readonly Finding[] | Finding
}

/** What it means that a step that decides who may pass is there now. */
export const accessAdded: Effects<AccessKind> = {
  "validate-jwt": ({ issuers, status }) =>
    closes(`who has no valid token of ${namedIssuers(issuers)} is refused with ${countWordsOf(status)}`),
  introspect: ({ introspection, status }) =>
    closes(`who has no token that \`${introspection}\` calls active is refused with ${countWordsOf(status)}`),
  "basic-auth": ({ users, status }) =>
    closes(`who is none of \`${users}\` is refused with ${countWordsOf(status)}`),
  cors: ({ origins, credentials }) =>
    opens(
      `pages of ${originWords(origins)} may call, and read answers${credentials ? ", with the caller's own credentials" : ""}`,
    ),
  "check-header": ({ name, status }) =>
    closes(`requests without a fitting header \`${name}\` are refused with ${countWordsOf(status)}`),
  "ip-filter": ({ action }) =>
    closes(
      action === "allow"
        ? "callers from other networks are refused with 403"
        : "callers from these networks are refused with 403",
    ),
  "require-any": () => closes("who has none of these relations is refused with 403"),
  "require-all": () => closes("who does not have all of these relations is refused with 403"),
  filter: ({ relation }) => closes(`callers do not see items on which they are not \`${relation}\``),
  grant: ({ action, relation }) =>
    action === "write"
      ? opens(`whoever the backend says yes to makes somebody \`${relation}\``)
      : closes(`after a yes of the backend somebody is not \`${relation}\` any more`),
}

/** What it means that such a step is gone. */
export const accessRemoved: Effects<AccessKind> = {
  "validate-jwt": ({ issuers }) =>
    opens(`anybody may call: a token of ${namedIssuers(issuers)} is not asked for any more`),
  introspect: ({ introspection }) =>
    opens(`anybody may call: a token that \`${introspection}\` calls active is not asked for any more`),
  "basic-auth": () => opens("anybody may call: user and password are not asked for any more"),
  cors: ({ origins }) => breaking(`pages of ${originWords(origins)} cannot call any more`),
  "check-header": ({ name }) => opens(`the header \`${name}\` is not checked any more`),
  "ip-filter": ({ action }) =>
    opens(action === "allow" ? "callers from every network pass" : "callers from these networks pass"),
  "require-any": () => opens("nobody has to have one of these relations any more"),
  "require-all": () => opens("nobody has to have these relations any more"),
  filter: ({ relation }) => opens(`callers see items too on which they are not \`${relation}\``),
  grant: ({ action, relation }) =>
    action === "write"
      ? breaking(`nobody becomes \`${relation}\` by this any more`)
      : opens(`who was \`${relation}\` stays it`),
}

/** `` `a` or `b` ``. */
export function namedIssuers(issuers: readonly string[]): string {
  return issuers.map((name) => `\`${name}\``).join(" or ")
}

function originWords(origins: StepOf<"cors">["origins"]): string {
  if (origins.includes("*")) return "every site"
  return listWords(
    origins.map((origin) => (typeof origin === "string" ? `\`${origin}\`` : "a site found per request")),
  )
}
