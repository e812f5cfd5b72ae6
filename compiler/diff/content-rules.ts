import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import {
  inValues,
  otherRequestBody,
  otherResource,
  otherValue,
  readByBrowsers,
  sentByGateway,
} from "../analysis/seen-by-backend.ts"
import { callersDecide, escapingLost, secretsIn } from "../analysis/text-findings.ts"
import { nameShown } from "../analysis/words.ts"
import { countWordsOf } from "./access-words.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

const queryRules: FieldRules<Fields<"set-query">> = {
  name: (_, after) => opens(`it is about ${nameShown(after)} now`),
  action: (before, after, items) => {
    const exclusive = (action: string) => action === "set" || action === "remove"
    const shown = `the query parameter ${nameShown(items.after.name)}`
    if (exclusive(before) && !exclusive(after))
      return opens(`the caller's own ${shown.slice(4)} reaches the backend`)
    if (after === "remove") return closes(`the backend does not get ${shown} any more`)
    return sentByGateway(shown, before === "remove" ? "added" : "changed", false)
  },
  values: (before, after, items) => [
    ...(before.length === 0 || after.length === 0
      ? []
      : [otherValue(before, after, `the query parameter ${nameShown(items.after.name)}`, false)]),
    ...inValues(before, after, callersDecide),
    ...inValues(before, after, (known, value) => secretsIn(value, known)),
  ],
}

const hostRules: FieldRules<Fields<"set-host">> = {
  host: (_, after) =>
    typeof after === "object" && "preserve" in after
      ? opens("callers choose the Host header the backend sees")
      : otherResource("the backend gets another Host header"),
}

const bodyRules: FieldRules<Fields<"set-body">> = {
  message: (_, after) => breaking(`it is the body of the ${after} now`),
  media: (_, after, items) => bodyChange(items.after, after === null ? "another" : `as ${mediaShown(after)}`),
  content: (before, after, items) => [
    ...escapingLost(before, after),
    bodyChange(items.after, "another"),
    ...secretsIn(after, before),
  ],
}

function mediaShown(media: string): string {
  if (media === "application/json") return "json"
  return media.startsWith("text/plain") ? "text" : media
}

function bodyChange({ message }: Fields<"set-body">, what: string): Finding {
  const words = what === "another" ? "another body" : `the body ${what}`
  return message === "request"
    ? otherRequestBody(`the backend gets ${words}`)
    : breaking(`callers get ${words}`)
}

const respondRules: FieldRules<Fields<"respond">> = {
  from: () => breaking("callers get another answer"),
  status: (before = 200, after = 200) =>
    breaking(`callers are answered ${countWordsOf(after)}, not ${countWordsOf(before)}`),
  reason: () => neutral("callers get another reason phrase"),
  media: () => breaking("callers get another body"),
  // What has changed is told where it has changed.
  body: (old, next, { after }) =>
    after.documentation
      ? neutral("the API is described anew")
      : [...escapingLost(old, next), breaking("callers get another body"), ...secretsIn(next, old)],
  documentation: (_, after) =>
    neutral(after ? "it is the description of the API now" : "it is no description of the API any more"),
  headers: (before, after) => {
    const valuesOf = (headers: typeof before, name: string) => headers.filter((each) => each.name === name)
    const names = [...new Set([...before, ...after].map(({ name }) => name))].filter(
      (name) => !same(valuesOf(before, name), valuesOf(after, name)),
    )
    const gone = names.filter((name) => valuesOf(after, name).length === 0)
    const location = after.find(({ name }) => name.toLowerCase() === "location")
    return [
      ...(gone.length === 0 ? [] : [breaking(`callers do not get \`${gone.join("`, `")}\` any more`)]),
      ...(location !== undefined && names.includes(location.name)
        ? [
            breaking("callers are sent to another place"),
            ...inValues(
              before.find(({ name }) => name === location.name)?.values ?? [],
              location.values,
              callersDecide,
            ),
          ]
        : []),
      ...names.flatMap((name) => readByBrowsers(name, `\`${name}\``)),
      ...(gone.length === 0 ? [neutral("callers get other headers")] : []),
      ...secretsIn(after, before),
    ]
  },
}

/** What a difference in a field means, for steps that change messages. */
export const contentRules = {
  "set-query": queryRules,
  "set-host": hostRules,
  "set-body": bodyRules,
  respond: respondRules,
  rewrite: {
    path: (before, after) => [
      otherResource("the backend is asked for another path"),
      ...callersDecide(before, after),
    ],
    raw: (_, after) =>
      after
        ? opens("expressions may bring more than one segment of the path")
        : neutral("the path is put together from segments"),
    keepQuery: (_, after) =>
      after
        ? opens("the caller's query reaches the backend")
        : closes("the backend does not see the caller's query any more"),
    parameters: () => otherResource("the backend is asked for another path"),
  } satisfies FieldRules<Fields<"rewrite">>,
}
