import type { StepOf } from "../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import type { SchemaComparison } from "../analysis/schema-comparison.ts"
import { type Judged, ruleChanges } from "../analysis/schema-rules.ts"
import { blockWords, countWordsOf } from "./access-words.ts"

type Content = StepOf<"validate-content">
type Parameters = StepOf<"validate-parameters">
type Unspecified = Parameters["unspecified"]
type Named = NonNullable<Unspecified["named"]>[number]
type Fields<Step> = Omit<Step, "kind">
type Action = Content["types"][number]["action"]
/** An action, perhaps one that is found per request. */
type FoundAction = Content["onSize"]

const strength: Readonly<Record<Action, number>> = { ignore: 0, detect: 1, prevent: 2 }

/** What it means that messages are judged by schemas now. */
export const validationAdded = {
  "validate-content": ({ message, onSize, onUnspecified, types }: Content): Finding => {
    const actions = [onSize, onUnspecified, ...types.map(({ action }) => action)]
    if (!actions.some((action) => action === "prevent" || typeof action === "object"))
      return neutral(`bodies of ${message}s that do not fit are noted`)
    return message === "request"
      ? closes("requests whose bodies do not fit are refused with 400")
      : breaking("answers whose bodies do not fit become 502")
  },
  "validate-parameters": ({ parameters, unspecified }: Parameters): Finding =>
    [
      unspecified.query,
      unspecified.header,
      ...[...parameters, ...(unspecified.named ?? [])].map(({ action }) => action),
    ].includes("prevent")
      ? closes("requests whose parameters do not fit are refused with 400")
      : neutral("parameters that do not fit are noted"),
}

/** What it means that they are not any more. */
export const validationRemoved = {
  "validate-content": ({ message }: Content): Finding =>
    opens(`the bodies of ${message}s are not judged any more`),
  "validate-parameters": (): Finding => opens("the parameters of requests are not judged any more"),
}

/** What a change of such a step means. */
export const validationRules = {
  "validate-content": (schemas: SchemaComparison): FieldRules<Fields<Content>> => ({
    message: (_, after) => neutral(`it is about the ${after} now`),
    bytesMax: (before, after) => {
      if (typeof after !== "number") return opens("what a request says may decide how large bodies may be")
      return typeof before === "number" && after > before
        ? opens(`bodies of up to ${after} bytes are let through`)
        : closes(`bodies have ${after} bytes at most`)
    },
    onSize: (before, after) => foundChange(before, after, "bodies that are too large"),
    onUnspecified: (before, after) => foundChange(before, after, "bodies of other media types"),
    onMissing: (before, after) =>
      actionChange(before ?? "ignore", after ?? "ignore", "messages without a body"),
    mediaMap: (_, after) =>
      opens(
        after === undefined
          ? "media types count as what they are: bodies may be judged by another rule, or by none"
          : "media types count as others: bodies may be judged by another rule, or by none",
      ),
    types: (before, after, items) => typeChanges(before, after, items, schemas),
    errors: () => neutral("what is found goes to another variable"),
  }),
  "validate-parameters": (schemas: SchemaComparison): FieldRules<Fields<Parameters>> => ({
    parameters: (before, after, items) => parameterChanges(before, after, items, schemas),
    unspecified: (before, after) =>
      orOtherWords([
        ...(before.query === after.query
          ? []
          : [actionChange(before.query, after.query, "other query parameters")]),
        ...(before.header === after.header
          ? []
          : [actionChange(before.header, after.header, "other headers")]),
        ...namedChanges(before, after),
      ]),
    errors: () => neutral("what is found goes to another variable"),
    withBody: (_, after) =>
      neutral(
        after === true
          ? "faults of parameters and of the body are told in one answer"
          : "faults of parameters are told without those of the body",
      ),
  }),
}

/** Bodies by their media types, of answers by their statuses too. */
function typeChanges(
  before: Content["types"],
  after: Content["types"],
  items: { readonly before: Fields<Content>; readonly after: Fields<Content> },
  schemas: SchemaComparison,
): Finding[] {
  const { message } = items.after
  const nameOf = ({ media, status }: Content["types"][number]) =>
    [media, ...(status === undefined ? [] : [status])].join(" ")
  // Another rule may be for it: a range of media types, or of statuses.
  const isRange = ({ media, status }: Content["types"][number]) =>
    media.includes("*") || (status !== undefined && !/^[1-5][0-9]{2}$/.test(status))
  const others = (name: string) => {
    if (items.before.types.some(isRange) || items.after.types.some(isRange))
      return [opens(`\`${name}\` is judged by another rule`)]
    return undefined
  }
  const judged: Judged<Content["types"][number]> = {
    message,
    nameOf,
    subject: () => (message === "request" ? "bodies" : "answers"),
    isText: ({ as }) => as !== "json",
    gone: (name) =>
      others(name) ??
      (items.after.onUnspecified === "prevent" ? [refused(message, `bodies of \`${name}\``)] : undefined),
    come: (name) =>
      others(name) ??
      (items.before.onUnspecified === "prevent"
        ? [opens(`bodies of \`${name}\` are let through where they fit`)]
        : undefined),
  }
  return ruleChanges(before, after, judged, schemas)
}

function parameterChanges(
  before: Parameters["parameters"],
  after: Parameters["parameters"],
  items: { readonly before: Fields<Parameters>; readonly after: Fields<Parameters> },
  schemas: SchemaComparison,
): Finding[] {
  const unknownAction = (
    { unspecified }: Fields<Parameters>,
    rule: Parameters["parameters"][number],
  ): Action => {
    const { in: place, name } = rule
    if (place !== "query" && place !== "header") return "ignore"
    return (
      unspecified.named?.find((each) => each.in === place && each.name === name)?.action ?? unspecified[place]
    )
  }
  const judged: Judged<Parameters["parameters"][number]> = {
    message: "request",
    nameOf: (rule) => `${rule.in} ${rule.name}`,
    subject: (name) => `requests with \`${name}\``,
    isText: () => true,
    gone: (name, rule) =>
      unknownAction(items.after, rule) === "prevent"
        ? [
            closes(`requests with \`${name}\` are refused: nothing describes it any more`),
            ...(rule.required ? [opens(`requests without \`${name}\` may pass`)] : []),
          ]
        : undefined,
    come: (name, rule) =>
      unknownAction(items.before, rule) === "prevent"
        ? [
            opens(`requests with \`${name}\` are let through where it fits`),
            ...(rule.required ? [closes(`requests without \`${name}\` are refused`)] : []),
          ]
        : undefined,
  }
  return ruleChanges(before, after, judged, schemas)
}

function orOtherWords(found: Finding[]): Finding[] {
  return found.length > 0 ? found : [neutral("other parameters are judged as before, by other words")]
}

/** Names that one of them has an action of its own for. */
function namedChanges(before: Unspecified, after: Unspecified): Finding[] {
  const keyOf = ({ in: place, name }: Named): string => `${place} ${name}`
  const all = new Map([...(before.named ?? []), ...(after.named ?? [])].map((each) => [keyOf(each), each]))
  return [...all].flatMap(([key, { in: place }]) => {
    const actionIn = (where: Unspecified): Action =>
      where.named?.find((each) => keyOf(each) === key)?.action ?? where[place]
    const [old, now] = [actionIn(before), actionIn(after)]
    return old === now ? [] : [actionChange(old, now, `requests with \`${key}\``)]
  })
}

/** What a request decides may be anything. */
function foundChange(before: FoundAction, after: FoundAction, what: string): Finding {
  if (typeof after === "object") return opens(`what is done about ${what} is found per request`)
  return actionChange(typeof before === "object" ? "prevent" : before, after, what)
}

function actionChange(before: Action, after: Action, what: string): Finding {
  if (strength[after] < strength[before])
    return opens(`${what} are ${after === "ignore" ? "let through" : "only noted"}`)
  return after === "prevent" ? closes(`${what} are refused`) : neutral(`${what} are noted`)
}

function refused(message: "request" | "response", what: string): Finding {
  return message === "request" ? closes(`${what} are refused`) : breaking(`answers with ${what} become 502`)
}

/** Such steps in words of gateway.conf. */
export const validationWords = {
  "validate-content": (step: Content): string => {
    const { message, types, bytesMax, mediaMap } = step
    const size = `size ${typeof bytesMax === "number" ? `${bytesMax}B` : countWordsOf(bytesMax)}`
    // By schemas and missing bodies those are known that a document asks for.
    if (step.onMissing !== undefined || types.some(({ schema }) => schema !== undefined))
      return `validate ${message}${blockWords([`content ${strongest(types)}`, size, ...mapWords(mediaMap)])}`
    return `validate content ${actionWords(step.onUnspecified)}${blockWords([
      ...types.map(({ as, media, action }) => `${as}${media === "*" ? "" : ` "${media}"`} ${action}`),
      ...mapWords(mediaMap),
      `${size} ${actionWords(step.onSize)}`,
    ])}`
  },
  "validate-parameters": ({ parameters, unspecified }: Parameters): string =>
    `validate request${blockWords([
      `parameters ${strongest(parameters)}`,
      ...(unspecified.query === "ignore" ? [] : [`unknown-query ${unspecified.query}`]),
      ...(unspecified.header === "ignore" ? [] : [`unknown-headers ${unspecified.header}`]),
      ...(unspecified.named ?? []).map(({ in: place, name, action }) => `${place} "${name}" ${action}`),
    ])}`,
}

function actionWords(action: FoundAction): string {
  return typeof action === "string" ? action : `(${action.expression.text})`
}

function mapWords(map: Content["mediaMap"]): string[] {
  if (map === undefined) return []
  const { rules, missing, any } = map
  return [
    ...rules.map(
      (rule) => `map ${"from" in rule ? `"${rule.from}"` : `(${rule.when.text})`} to "${rule.to}"`,
    ),
    ...(missing === undefined ? [] : [`map missing to "${missing}"`]),
    ...(any === undefined ? [] : [`map any to "${any}"`]),
  ]
}

function strongest(rules: readonly { readonly action: Action }[]): Action {
  return rules.reduce<Action>(
    (most, { action }) => (strength[action] > strength[most] ? action : most),
    "ignore",
  )
}
