import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { breaking, type FieldRules, type Finding, neutral } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { inValues, otherRequestBody, readByBrowsers } from "../analysis/seen-by-backend.ts"
import { callersDecide, escapingLost, secretsIn } from "../analysis/text-findings.ts"
import { countWordsOf } from "./access-words.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

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
  "set-body": bodyRules,
  respond: respondRules,
}
