import type { StepOf } from "../../../runtime/plan/steps.ts"
import { type Finding, neutral, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { textAt } from "../lower/text-or-expression.ts"
import { type Printing, statement, textsOf } from "../print.ts"
import { many, oneOf, optional, type StatementRow, slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

type Lookup = StepOf<"cache-lookup">

/** `cache lookup { vary header "Accept" }` */
export const lookupForm: StatementForm = {
  form: { args: [word("lookup")], block: "cache lookup" },
  lower: (bound, context) => {
    const { statement, block } = bound
    const keyAt = statementOf(block, "key")
    const key = textAt(keyAt, "key", context)
    if (keyAt?.args.text("key") !== undefined && key === undefined) return undefined
    const vary = statementsOf(block, "vary")
    const byQuery = vary.find((each) => isWord(each.statement.args[0], "query"))
    const downstream = statementOf(block, "downstream")
    return context.steps.add(
      {
        kind: "cache-lookup",
        varyHeaders: vary.flatMap(({ args }) => args.values<string>("name")),
        // `null`: the whole query string separates responses. An empty list: none of it does.
        varyQuery: byQuery === undefined ? null : [...byQuery.args.values<string>("parameter")],
        ...(key === undefined ? {} : { key }),
        // Without `shared`, requests with credentials are not answered from the cache (RFC 9111, section 3.5).
        authorized: mentions(block, "shared"),
        downstream: downstream?.args.value<"private" | "public">("who") ?? "none",
        mustRevalidate: downstream?.statement.args.some((each) => isWord(each, "must-revalidate")) ?? false,
        // Left out when false, so that plans of older versions keep their digests.
        ...(mentions(block, "coalesce") ? { coalesce: true } : {}),
      },
      headSpan(statement),
    )
  },
}

function isWord(argument: BoundStatement["statement"]["args"][number] | undefined, text: string): boolean {
  return argument?.kind === "word" && argument.text === text
}

/** Statements in its block, and in that of `cache response`. */
export const lookupRows: readonly StatementRow[] = [
  {
    keyword: "vary",
    several: 2,
    forms: [
      { args: [word("header"), many(slot("name", "header-name"), 50)] },
      { args: [word("query"), oneOf([word("none")], [many(slot("parameter", "query-name"), 50)])] },
    ],
    byDefault: "separate responses for each query string",
    docs: "Headers and query parameters for which separate responses are kept.",
    example: 'vary header "Accept-Language"',
  },
  {
    keyword: "key",
    forms: [{ args: [slot("key", "text")] }],
    docs: "A string for which separate responses are kept, in addition.",
    example: 'key "${jwt.tenant}"',
  },
  {
    keyword: "shared",
    forms: [{ args: [] }],
    docs: "Also keeps responses to requests with a token, and gives them to every caller with an equal request.",
    example: "shared",
  },
  {
    keyword: "coalesce",
    forms: [{ args: [] }],
    docs: "When several equal requests miss the cache at the same time, one asks the backend and the others wait.",
    example: "coalesce",
  },
  {
    keyword: "downstream",
    forms: [
      {
        args: [slot("who", "choice", { choices: ["private", "public"] }), optional(word("must-revalidate"))],
      },
    ],
    byDefault: "the response of the backend",
    docs: "Cache-Control for callers, with the remaining time.",
    example: "downstream private",
  },
]

/** Printing and comparison of a step that responds with a cached response. */
export const cacheLookup: StepText<"cache-lookup"> = {
  print: (step, printing) =>
    statement(
      "cache lookup",
      varyText("header", step.varyHeaders.map(printing.header)),
      step.varyQuery !== null &&
        (step.varyQuery.length === 0 ? "vary query none" : varyText("query", step.varyQuery)),
      step.key !== undefined && `key ${textWords(step.key)}`,
      step.authorized && "shared",
      downstreamText(step, printing),
      step.coalesce === true && "coalesce",
      likeText(step.like, printing),
    ),
  // A route has one lookup, so all lookups are the same statement.
  identities: () => ["cache-lookup"],
  added: ({ authorized }) =>
    authorized
      ? opens("a response to a request with a token may be sent to another caller")
      : neutral("responses may come from the cache"),
  removed: () => neutral("responses no longer come from the cache"),
  changed: {
    varyHeaders: (before, after) => differing(before, after, "the header"),
    varyQuery: (before, after) => otherQuery(before, after),
    key: (_, after) =>
      after === undefined
        ? opens("requests with different keys now get the same response")
        : opens("another key decides which requests share a response"),
    authorized: (_, after) =>
      after
        ? opens("a response to a request with a token may be sent to another caller")
        : neutral("responses to requests with a token are no longer cached"),
    downstream: (_, after) => neutral(`responses have \`Cache-Control: ${after}\``),
    // What callers' caches keep changes no answer of this gateway.
    mustRevalidate: () => neutral("responses have another Cache-Control"),
    coalesce: () => neutral("whether requests wait for each other's response has changed"),
    like: (before, after) => otherLikeness(before, after),
  },
}

function varyText(what: "header" | "query", names: readonly string[]): string | false {
  return names.length > 0 && `vary ${what}${textsOf(names)}`
}

function downstreamText({ downstream, mustRevalidate }: Lookup, printing: Printing): string | false {
  if (downstream !== "none") return `downstream ${downstream}${mustRevalidate ? " must-revalidate" : ""}`
  if (mustRevalidate) printing.lacks("`must-revalidate` without a cache behind")
  return false
}

function likeText(like: Lookup["like"], printing: Printing): string | false {
  if (like === undefined) return false
  printing.lacks("only policy documents can search for similar prompts")
  const { backend, distance, ignoreSystem, messagesMax } = like
  const system = ignoreSystem ? " without system messages" : ""
  return `like ${backend} within ${distance}${system}${messagesMax === undefined ? "" : ` up to ${messagesMax} messages`}`
}

/** A query parameter that no longer separates responses gives callers the response of another request. */
function otherQuery(before: Lookup["varyQuery"], after: Lookup["varyQuery"]): readonly Finding[] | Finding {
  if (after === null) return neutral("each query string has separate cached responses")
  if (before !== null) return differing(before, after, "the query parameter")
  return opens(
    after.length === 0
      ? "requests with different query strings now get the same response"
      : `requests that differ only in query parameters other than ${shown(after)} get the same response`,
  )
}

/** Similar prompts share a response; a larger distance shares it with more callers. */
function otherLikeness(before: Lookup["like"], after: Lookup["like"]): Finding {
  if (after === undefined) return opens("requests that differ only in the prompt get the same response")
  if (before === undefined) return opens("similar prompts get the same response")
  if (after.backend !== before.backend)
    return opens(`\`${after.backend}\` gets the prompts and finds similar ones`)
  if (after.distance > before.distance)
    return opens(
      `prompts up to the distance ${after.distance} instead of ${before.distance} get the same response`,
    )
  if (after.ignoreSystem && !before.ignoreSystem)
    return opens("prompts that differ only in their system messages get the same response")
  return neutral("fewer prompts are similar enough to get the same response")
}

/** Values that no longer separate responses are a risk; additional ones only cost hits. */
function differing(before: readonly string[], after: readonly string[], what: string): Finding[] {
  const gone = before.filter((name) => !after.includes(name))
  const come = after.filter((name) => !before.includes(name))
  return [
    ...(gone.length > 0
      ? [opens(`requests that differ only in ${what} ${shown(gone)} get the same response`)]
      : []),
    ...(come.length > 0
      ? [neutral(`each value of ${what} ${shown(come)} has separate cached responses`)]
      : []),
  ]
}

function shown(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ")
}
