import type { Authentication, Flag } from "../../runtime/plan/step-values.ts"
import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { listChanges, same } from "../analysis/same.ts"
import { callersDecide, escapingLost, secretsIn } from "../analysis/text-findings.ts"
import { textWords } from "../analysis/words.ts"
import { countWordsOf } from "./access-words.ts"
import { secondsWords } from "./content-words.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** The comparison of lists walks into what stands inside of a step, and tells it there. */
export const walked = (): Finding[] => []

const getRules: FieldRules<Fields<"cache-get">> = {
  key: otherKey,
  variable: (before, after) => neutral(`the value is in \`${after}\`, not in \`${before}\``),
  default: (_, after) =>
    neutral(
      after === undefined
        ? "without a value the variable is null"
        : "without a value the variable is another",
    ),
}

/** Callers that meet at a key share what is kept under it. */
function otherKey(before: Text, after: Text): Finding[] {
  const shared = typeof before !== "string" && typeof after === "string"
  return [
    shared
      ? opens("requests for which the key differed share one value")
      : neutral("a value of another key is meant"),
    ...callersDecide(before, after),
  ]
}

const valueRules: FieldRules<Fields<"cache-value">> = {
  key: otherKey,
  variable: (before, after) => neutral(`the value is in \`${after}\`, not in \`${before}\``),
  seconds: (before, after) =>
    neutral(`a value is kept for ${secondsWords(after)}, not ${secondsWords(before)}`),
  refreshAfterSeconds: (_, after) =>
    neutral(
      after === undefined
        ? "a value is used until it ends, and made anew then"
        : `from ${secondsWords(after)} on a value is made anew while the old one is used`,
    ),
  default: (_, after) =>
    neutral(
      after === undefined
        ? "without a value the variable is null"
        : "without a value the variable is another",
    ),
  steps: walked,
}

const sendRules: FieldRules<Fields<"send-request">> = {
  mode: (_, after) =>
    after === "copy"
      ? opens("the other service gets the headers and the body of the caller")
      : neutral("the other service does not get the headers and the body of the caller any more"),
  url: (before, after) => [
    opens("another service is asked: it gets what is sent, and its answer counts"),
    ...callersDecide(before, after),
    ...secretsIn(after, before),
  ],
  method: (before, after) => [
    opens("the other service is asked with another method"),
    ...callersDecide(before, after),
  ],
  headers: (before, after) => {
    const known = (name: string) => before.find((line) => line.name === name)
    return [
      opens("the other service gets other headers: its answer may be another"),
      ...after.flatMap(({ name, values }) =>
        values.flatMap((value, at) => [
          ...secretsIn(value, known(name)?.values[at]),
          ...callersDecide(known(name)?.values[at], value),
        ]),
      ),
    ]
  },
  media: () => opens("the other service gets a body of another type: its answer may be another"),
  body: (before, after) => [
    ...escapingLost(before, after),
    opens("the other service gets another body: its answer may be another"),
  ],
  authentication: otherIdentity("the other service"),
  timeoutSeconds: (before, after) =>
    neutral(`its answer has ${secondsWords(after)}, not ${secondsWords(before)}`),
  variable: (_, after) =>
    neutral(after === undefined ? "its answer is kept nowhere" : `its answer is in \`${after}\``),
  ignoreError: (_, after) => withoutAnswer(after),
  wait: (_, after, items) =>
    after
      ? withoutAnswer(items.after.ignoreError)
      : neutral("nobody waits for its answer, nor learns that there is none"),
}

function withoutAnswer(ignored: Flag): Finding {
  if (ignored === false) return breaking("without its answer the request fails with 502 or 504")
  return ignored === true
    ? opens("without its answer the request goes on")
    : opens("without its answer the request may go on")
}

/** Who we say we are, to whom. */
function otherIdentity(
  whom: string,
): (before: Authentication | undefined, after: Authentication | undefined) => Finding[] {
  return (before, after) => {
    if (after === undefined) return [breaking(`${whom} is not told any more who the gateway is`)]
    const words = {
      basic: "by user and password",
      bearer: "by a token",
      token: "by the token of a client",
      certificate: "by a certificate",
    }
    const as =
      after.scheme === "token"
        ? `\`${after.client}\``
        : after.scheme === "certificate"
          ? `\`${after.certificate}\``
          : "another"
    if (before === undefined)
      return [
        opens(`${whom} is told who the gateway is, ${words[after.scheme]}`),
        ...secretsIn(secretOf(after)),
      ]
    return [
      before.scheme === after.scheme
        ? opens(`the gateway is ${as} to ${whom}`)
        : opens(`${whom} is told who the gateway is ${words[after.scheme]}, not ${words[before.scheme]}`),
      ...secretsIn(secretOf(after), secretOf(before)),
    ]
  }
}

function secretOf(authentication: Authentication): Text | undefined {
  if (authentication.scheme === "basic") return authentication.password
  return authentication.scheme === "bearer" ? authentication.token : undefined
}

const safetyRules: FieldRules<Fields<"content-safety">> = {
  backend: (before, after) => opens(`\`${after}\` judges what is asked, not \`${before}\``),
  categories: (before, after) => {
    const thresholds = (list: typeof before) => new Map(list.map(({ name, threshold }) => [name, threshold]))
    const [old, next] = [thresholds(before), thresholds(after)]
    const names = [...new Set([...old.keys(), ...next.keys()])]
    return names.flatMap((name): Finding[] => {
      const [was, now] = [old.get(name), next.get(name)]
      if (now === undefined) return [opens(`\`${name}\` is not judged any more`)]
      if (was === undefined) return [closes(`\`${name}\` is judged now`)]
      if (same(was, now)) return []
      const words = `\`${name}\` is refused from ${countWordsOf(now)} on, not from ${countWordsOf(was)}`
      return [typeof was === "number" && typeof now === "number" && now < was ? closes(words) : opens(words)]
    })
  },
  levels: (_, after) => opens(`severities are judged in ${after} levels`),
  blocklists: (before, after) => {
    const { removed, added } = listChanges(before, after)
    return [
      ...(removed.length === 0
        ? []
        : [opens(`terms of ${removed.map((each) => textWords(each)).join(", ")} pass`)]),
      ...(added.length === 0
        ? []
        : [closes(`terms of ${added.map((each) => textWords(each)).join(", ")} are refused`)]),
    ]
  },
  shieldPrompt: (_, after) =>
    after === true ? closes("attacks in prompts are refused") : opens("attacks in prompts may pass"),
  completions: (_, after) =>
    after === true
      ? closes("what the model answers is judged too")
      : opens("what the model answers may not be judged"),
}

/** What a difference in a field means, for steps that convert, keep values, ask others and repeat. */
export const flowRules = {
  "cache-get": getRules,
  "cache-remove": {
    key: (before, after) => [
      neutral("the value of another key is taken out"),
      ...callersDecide(before, after),
    ],
  } satisfies FieldRules<Fields<"cache-remove">>,
  "cache-value": valueRules,
  "content-safety": safetyRules,
  "send-request": sendRules,
  authenticate: {
    authentication: otherIdentity("the backend"),
    output: (before, after) => {
      if (after === undefined) return opens("callers act on the backend in the gateway's name")
      return before === undefined
        ? breaking(`the backend is not told any more who the gateway is: the token goes to \`${after}\``)
        : neutral(`the token goes to \`${after}\``)
    },
    outputAs: (_, after) =>
      neutral(
        after === undefined
          ? "the token is kept as text"
          : "the token is kept as an object with `accessToken`",
      ),
  } satisfies FieldRules<Fields<"authenticate">>,
}
