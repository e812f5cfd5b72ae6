import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { breaking, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import type { SchemaComparison } from "../analysis/schema-comparison.ts"
import { ruleChanges } from "../analysis/schema-rules.ts"
import { secretsIn } from "../analysis/text-findings.ts"
import { countWordsOf } from "./access-words.ts"
import { otherTarget } from "./content-effects.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">
type Action = StepOf<"validate-status">["unspecified"]

const strength: Readonly<Record<Action, number>> = { ignore: 0, detect: 1, prevent: 2 }

/** What it means that faults of answers are taken more, or less, seriously. */
function judged(before: Action, after: Action, what: string): Finding[] {
  if (before === after) return []
  if (before === "prevent")
    return [opens(`answers with ${what} are ${after === "detect" ? "only noted" : "let through"}`)]
  if (after === "prevent") return [breaking(`answers with ${what} become 502`)]
  const less = strength[after] < strength[before]
  return [neutral(`answers with ${what} are ${less ? "not noted any more" : "noted"}`)]
}

const otherVariable = (): Finding => neutral("what is found goes to another variable")

const statusRules: FieldRules<Fields<"validate-status">> = {
  codes: (before, after, items) => {
    const actionOf = (codes: typeof before, others: Action, code: string): Action =>
      (codes.find((each) => each.code === code) ?? codes.find((each) => each.code === `${code[0]}xx`))
        ?.action ?? others
    const codes = [...new Set([...before, ...after].map(({ code }) => code))]
    const found = codes.flatMap((code) =>
      judged(
        actionOf(before, items.before.unspecified, code),
        actionOf(after, items.after.unspecified, code),
        `status ${code}`,
      ),
    )
    return found.length > 0 ? found : neutral("the same statuses are judged by other words")
  },
  unspecified: (before, after) => judged(before, after, "other statuses"),
  errors: otherVariable,
}

/** What is done where an answer has a header that nothing describes. */
function unlistedAction(step: Fields<"validate-headers">, name: string): Action {
  if (step.headers.some((each) => each.name === name)) return "ignore"
  return step.named?.find((each) => each.name === name)?.action ?? step.unspecified
}

/** Headers of answers; by schemas where a document describes them. */
export const headersRules = (schemas: SchemaComparison): FieldRules<Fields<"validate-headers">> => ({
  described: (before = [], after = []) => {
    const rules = (list: typeof before) =>
      list.flatMap(({ status, headers }) => headers.map((rule) => ({ ...rule, status })))
    const found = ruleChanges(
      rules(before),
      rules(after),
      {
        message: "response",
        nameOf: ({ status, name }) => `${name}\` of answers with \`${status}`,
        subject: (name) => `answers with \`${name}\``,
        isText: () => true,
        gone: () => undefined,
        come: () => undefined,
      },
      schemas,
    )
    return found.length > 0 ? found : neutral("other statuses are described")
  },
  headers: (before, after, items) => {
    const wanted = (headers: typeof before, name: string): Action =>
      headers.find((each) => each.name === name && each.required)?.action ?? "ignore"
    const names = [...new Set([...before, ...after].map(({ name }) => name))]
    const found = names.flatMap((name) => [
      ...judged(wanted(before, name), wanted(after, name), `no \`${name}\``),
      ...judged(unlistedAction(items.before, name), unlistedAction(items.after, name), `\`${name}\``),
    ])
    return found.length > 0 ? found : neutral("the same headers are judged by other words")
  },
  named: (before = [], after = [], items) => {
    // Those that are listed on one side are a matter of the list.
    const listed = new Set([...items.before.headers, ...items.after.headers].map(({ name }) => name))
    const names = new Set([...before, ...after].map(({ name }) => name))
    const found = [...names].flatMap((name) =>
      listed.has(name)
        ? []
        : judged(unlistedAction(items.before, name), unlistedAction(items.after, name), `\`${name}\``),
    )
    return found.length > 0 ? found : neutral("the same headers are judged by other words")
  },
  unspecified: (before, after) => judged(before, after, "other headers"),
  errors: otherVariable,
})

const lookupRules: FieldRules<Fields<"cache-lookup">> = {
  varyHeaders: (before, after) => differing(before, after, "the header"),
  varyQuery: (before, after) =>
    after === null
      ? neutral("answers differ by the whole query")
      : before === null
        ? opens(
            after.length === 0
              ? "requests with other queries get the same answer"
              : `requests that differ in other query parameters than ${shown(after)} get the same answer`,
          )
        : differing(before, after, "the query parameter"),
  key: (_, after) =>
    after === undefined
      ? opens("requests for which the text differs get the same answer")
      : opens("another text tells which requests get the same answer"),
  authorized: (_, after) =>
    after
      ? opens("an answer to one caller with a token may be given to another")
      : neutral("answers to requests with a token are not kept any more"),
  downstream: (_, after) => neutral(`callers are told \`${after}\` of the cache`),
  mustRevalidate: () => neutral("callers are told something else of the cache"),
  coalesce: () => neutral("requests wait for each other's answer, or not any more"),
  like: (before, after) => {
    if (after === undefined) return opens("requests of which only the prompt differs get the same answer")
    if (before === undefined) return opens("prompts that are near get the same answer")
    if (after.backend !== before.backend)
      return opens(`\`${after.backend}\` is told what is asked, and says which prompts are near`)
    if (after.distance > before.distance)
      return opens(`prompts get the same answer up to the distance ${after.distance}, not ${before.distance}`)
    if (after.ignoreSystem && !before.ignoreSystem)
      return opens("prompts that differ in their system messages get the same answer")
    return neutral("fewer prompts are near enough to get the same answer")
  },
}

function differing(before: readonly string[], after: readonly string[], what: string): Finding[] {
  const gone = before.filter((name) => !after.includes(name))
  const come = after.filter((name) => !before.includes(name))
  return [
    ...(gone.length > 0 ? [opens(`requests that differ in ${what} ${shown(gone)} get the same answer`)] : []),
    ...(come.length > 0 ? [neutral(`answers differ by ${what} ${shown(come)}`)] : []),
  ]
}

/** Who may be chosen, where only the shares of each differ from another such target. */
function sharesOf(target: StepOf<"set-backend">["target"]): unknown {
  return "weighted" in target ? [...new Set(target.weighted.map(({ backend }) => backend))].sort() : target
}

function shown(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ")
}

/** What a difference in a field means, for steps that judge and keep answers, and those that tell. */
export const answerRules = {
  "validate-status": statusRules,
  "cache-lookup": lookupRules,
  "cache-store": {
    seconds: (before, after) =>
      neutral(`answers are kept for ${countWordsOf(after)}s, not ${countWordsOf(before)}s`),
    storeIf: () => neutral("other answers are kept"),
  } satisfies FieldRules<Fields<"cache-store">>,
  "cache-set": {
    key: () => neutral("a value is kept under another key"),
    value: () => neutral("another value is kept in the cache"),
    seconds: (before, after) =>
      neutral(`a value is kept for ${countWordsOf(after)}s, not ${countWordsOf(before)}s`),
  } satisfies FieldRules<Fields<"cache-set">>,
  "set-backend": {
    target: (before, after) =>
      same(sharesOf(before), sharesOf(after))
        ? neutral("requests are shared among the same backends in another way")
        : otherTarget(after),
  } satisfies FieldRules<Fields<"set-backend">>,
  trace: {
    source: () => neutral("another line is written to the log"),
    severity: (_, after) => neutral(`the line is of severity \`${after}\``),
    message: (before, after) => [neutral("another line is written to the log"), ...secretsIn(after, before)],
    metadata: (before, after) => [neutral("another line is written to the log"), ...secretsIn(after, before)],
  } satisfies FieldRules<Fields<"trace">>,
  metric: {
    name: (_, after) => neutral(`it is counted as \`${after}\``),
    value: () => neutral("another amount is counted"),
    labels: () => neutral("it is counted by other labels"),
  } satisfies FieldRules<Fields<"metric">>,
}
