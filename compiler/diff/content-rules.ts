import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { countWordsOf } from "./access-words.ts"
import { nameShown } from "./content-effects.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "./finding.ts"
import { callersDecide, secretsIn } from "./text-findings.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** Findings of several values: compared one by one, as they stand. */
function inValues(
  before: readonly Text[],
  after: readonly Text[],
  find: (before: Text | undefined, after: Text) => readonly Finding[],
): Finding[] {
  return after.flatMap((value, at) => find(before[at], value))
}

const headerRules: FieldRules<Fields<"set-header">> = {
  message: (_, after) => neutral(`it is about the ${after} now`),
  name: (_, after) => neutral(`it is about ${nameShown(after)} now`),
  action: (before, after, items) => headerAction(before, after, items.after),
  values: (old, next, { before }) => {
    const request = before.message === "request"
    if (next.length === 0) return []
    if (old.length === 0) return inValues([], next, (_, value) => secretsIn(value))
    return [
      neutral(request ? "the backend gets another value" : "callers get another value"),
      ...(request ? inValues(old, next, callersDecide) : []),
      ...inValues(old, next, (known, value) => secretsIn(value, known)),
    ]
  },
}

function headerAction(
  before: StepOf<"set-header">["action"],
  after: StepOf<"set-header">["action"],
  { message, name }: Fields<"set-header">,
): Finding {
  const shown = nameShown(name)
  const exclusive = (action: string) => action === "set" || action === "remove"
  if (message === "request") {
    if (exclusive(before) && !exclusive(after)) return opens(`the caller's own ${shown} reaches the backend`)
    if (!exclusive(before) && exclusive(after))
      return closes(`the caller's own ${shown} does not reach the backend any more`)
    return neutral(after === "remove" ? `the backend gets no ${shown}` : `the backend gets ${shown}`)
  }
  if (after === "remove") return breaking(`callers do not get ${shown} any more`)
  if (exclusive(before) && !exclusive(after)) return opens(`callers see the backend's ${shown}`)
  return neutral(`callers get another ${shown}`)
}

const queryRules: FieldRules<Fields<"set-query">> = {
  name: (_, after) => neutral(`it is about ${nameShown(after)} now`),
  action: (before, after, items) => {
    const exclusive = (action: string) => action === "set" || action === "remove"
    if (exclusive(before) && !exclusive(after))
      return opens(`the caller's own query parameter ${nameShown(items.after.name)} reaches the backend`)
    return neutral(
      `the backend gets ${after === "remove" ? "no" : "its own"} query parameter ${nameShown(items.after.name)}`,
    )
  },
  values: (before, after) => [
    neutral("the backend gets another value"),
    ...inValues(before, after, callersDecide),
    ...inValues(before, after, (known, value) => secretsIn(value, known)),
  ],
}

const hostRules: FieldRules<Fields<"set-host">> = {
  host: (_, after) =>
    typeof after === "object" && "preserve" in after
      ? opens("callers choose the Host header the backend sees")
      : neutral("the backend gets another Host header"),
}

const bodyRules: FieldRules<Fields<"set-body">> = {
  message: (_, after) => breaking(`it is the body of the ${after} now`),
  media: (_, after, items) => bodyChange(items.after, after === null ? "another" : `as ${mediaShown(after)}`),
  content: (_, __, items) => bodyChange(items.after, "another"),
}

function mediaShown(media: string): string {
  if (media === "application/json") return "json"
  return media.startsWith("text/plain") ? "text" : media
}

function bodyChange({ message }: Fields<"set-body">, what: string): Finding {
  const words = what === "another" ? "another body" : `the body ${what}`
  return message === "request" ? neutral(`the backend gets ${words}`) : breaking(`callers get ${words}`)
}

const respondRules: FieldRules<Fields<"respond">> = {
  from: () => breaking("callers get another answer"),
  status: (before = 200, after = 200) =>
    breaking(`callers are answered ${countWordsOf(after)}, not ${countWordsOf(before)}`),
  reason: () => neutral("callers get another reason phrase"),
  media: () => breaking("callers get another body"),
  // What has changed is told where it has changed.
  body: (_, __, { after }) =>
    after.documentation ? neutral("the API is described anew") : breaking("callers get another body"),
  documentation: (_, after) =>
    neutral(after ? "it is the description of the API now" : "it is no description of the API any more"),
  headers: (before, after) => {
    const names = (headers: typeof before) => headers.map(({ name }) => name)
    const gone = names(before).filter((name) => !names(after).includes(name))
    return gone.length > 0
      ? breaking(`callers do not get \`${gone.join("`, `")}\` any more`)
      : neutral("callers get other headers")
  },
}

/** What a difference in a field means, for steps that change messages. */
export const contentRules = {
  "set-header": headerRules,
  "set-query": queryRules,
  "set-host": hostRules,
  "set-body": bodyRules,
  respond: respondRules,
  rewrite: {
    path: (before, after) => [
      neutral("the backend is asked for another path"),
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
    parameters: () => neutral("the backend is asked for another path"),
  } satisfies FieldRules<Fields<"rewrite">>,
}
