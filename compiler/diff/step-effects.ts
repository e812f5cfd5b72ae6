import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepId, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { accessAdded, accessRemoved } from "./access-effects.ts"
import { breaking, closes, type Finding, neutral, opens } from "./finding.ts"

type Steps = PlanBody["steps"]
type Effect<Kind extends StepKind> = (step: StepOf<Kind>, steps: Steps) => readonly Finding[] | Finding

/** What it means that a step is there now, by kind. */
const whenAdded: { readonly [Kind in StepKind]: Effect<Kind> } = {
  ...accessAdded,
  "validate-key": ({ status }) => closes(`who has no valid subscription key is refused with ${status}`),
  "any-of": () => closes("who has none of these credentials is refused"),
  require: ({ relation }) =>
    closes(
      `who is not \`${relation}\` is refused with 403; without an answer of the engine everybody is, with 503`,
    ),
  "set-header": (step) => headerAdded(step),
  "set-query": ({ name, action, value }) =>
    action === "remove"
      ? closes(`the backend does not see the query parameter \`${name}\` of the caller any more`)
      : [neutral(`the backend gets the query parameter \`${name}\``), ...secretsIn(value)],
  rewrite: () => neutral("the backend is asked for another path"),
  "set-host": ({ host }) =>
    typeof host === "object" && "preserve" in host
      ? opens("callers choose the Host header the backend sees")
      : neutral("the backend gets another Host header"),
  "set-body": ({ message }) =>
    message === "request"
      ? neutral("the backend gets this body instead of the caller's")
      : breaking("callers get this body instead of the backend's"),
  respond: ({ status }) =>
    status >= 400
      ? closes(`these requests are answered ${status}`)
      : breaking(`these requests are answered here with ${status}, not by the backend`),
  when: ({ matched, otherwise }, steps) => effectsOf(whenAdded, [...matched, ...otherwise], steps),
  deprecation: ({ deprecated, sunset, closed }) =>
    closed && sunset !== undefined
      ? breaking(`answered 410 from ${sunset} on`)
      : neutral(
          deprecated ? "answers announce that it is deprecated" : `answers announce its end on ${sunset}`,
        ),
  forward: () => opens("requests reach a backend now"),
}

/** What it means that a step is gone, by kind. */
const whenRemoved: { readonly [Kind in StepKind]: Effect<Kind> } = {
  ...accessRemoved,
  "validate-key": () => opens("anybody may call: a subscription key is not asked for any more"),
  "any-of": () => opens("anybody may call: none of these credentials is asked for any more"),
  require: ({ relation }) => opens(`nobody has to be \`${relation}\` any more`),
  "set-header": (step) => headerRemoved(step),
  "set-query": ({ name }) => opens(`the caller's own query parameter \`${name}\` reaches the backend`),
  rewrite: () => neutral("the backend is asked for the path of the request"),
  "set-host": () => neutral("the backend gets its own Host header"),
  "set-body": ({ message }) =>
    message === "request"
      ? opens("the caller's own body reaches the backend")
      : opens("callers see the backend's own body"),
  respond: ({ status }) =>
    status >= 400
      ? opens(`what was refused with ${status} goes on`)
      : opens(`what was answered here with ${status} goes on`),
  when: ({ matched, otherwise }, steps) => effectsOf(whenRemoved, [...matched, ...otherwise], steps),
  deprecation: ({ sunset, closed }) =>
    closed && sunset !== undefined
      ? opens(`not answered 410 from ${sunset} on any more`)
      : neutral("answers do not announce its end any more"),
  forward: () => breaking("requests do not reach a backend any more"),
}

/** What it means that a step is there now. */
export function effectsOfAdding(step: Step, steps: Steps): Finding[] {
  return effectOf(whenAdded, step, steps)
}

/** What it means that a step is gone. */
export function effectsOfRemoving(step: Step, steps: Steps): Finding[] {
  return effectOf(whenRemoved, step, steps)
}

type Effects = { readonly [Kind in StepKind]: Effect<Kind> }

function effectOf(effects: Effects, step: Step, steps: Steps): Finding[] {
  return [(effects[step.kind] as Effect<StepKind>)(step, steps)].flat()
}

function effectsOf(effects: Effects, ids: readonly StepId[], steps: Steps): Finding[] {
  const found = ids.flatMap((id) => {
    const step = steps[id]
    return step === undefined ? [] : effectOf(effects, step, steps)
  })
  return found.length > 0 ? found : [neutral("it does nothing")]
}

function headerAdded({ message, action, name, value }: StepOf<"set-header">): Finding[] {
  if (message === "request") {
    if (action === "remove") return [closes(`the backend does not see the caller's \`${name}\` any more`)]
    const how = { set: "", append: " besides the caller's own", default: " where the caller sends none" }
    return [neutral(`the backend gets \`${name}\`${how[action]}`), ...secretsIn(value)]
  }
  if (action === "remove") return [closes(`callers do not see \`${name}\` any more`)]
  return [neutral(`callers get \`${name}\``), ...secretsIn(value)]
}

function headerRemoved({ message, action, name }: StepOf<"set-header">): Finding {
  if (message === "request")
    return action === "set" || action === "remove"
      ? opens(`the caller's own \`${name}\` reaches the backend`)
      : neutral(`the backend does not get \`${name}\` from here any more`)
  return action === "remove"
    ? opens(`callers see the backend's \`${name}\``)
    : breaking(`callers do not get \`${name}\` from here any more`)
}

/** A secret in a text goes to whoever the text goes to; not told where the text before it, `known`, held it already. */
export function secretsIn(text: Text | undefined, known?: Text): Finding[] {
  const before = secretNames(known)
  return secretNames(text)
    .filter((name) => !before.includes(name))
    .map((name) => opens(`the secret \`${name}\` is sent there`))
}

function secretNames(text: Text | undefined): string[] {
  if (text === undefined || typeof text === "string") return []
  const names = text.text.flatMap((part) =>
    typeof part === "object" && "secret" in part ? [part.secret] : [],
  )
  return [...new Set(names)]
}
