import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepId, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { accessWords, blockWords } from "./access-words.ts"
import { ownOf } from "./same.ts"
import { textWords } from "./words.ts"

type WordsOf = { readonly [Kind in StepKind]: (step: StepOf<Kind>, words: StepWords) => string }

/** Steps of one plan in words of gateway.conf. What a statement leaves to its default is left out. */
export class StepWords {
  readonly body: PlanBody
  readonly severalStores: boolean
  readonly #known = new Map<StepId, string>()

  constructor(body: PlanBody) {
    this.body = body
    this.severalStores = Object.keys(body.authz?.stores ?? {}).length > 1
  }

  of(id: StepId): string {
    let words = this.#known.get(id)
    if (words === undefined) {
      const step = this.body.steps[id]
      words = step === undefined ? id : this.ofStep(step)
      this.#known.set(id, words)
    }
    return words
  }

  ofStep(step: Step): string {
    return (wordsOf[step.kind] as (step: Step, words: StepWords) => string)(step, this)
  }

  /** Steps of a block, in order. */
  list(ids: readonly StepId[]): string {
    return ids.map((id) => this.of(id)).join("; ")
  }
}

const wordsOf: WordsOf = {
  ...accessWords,
  "validate-key": ({ header, query, status, forward }) =>
    `auth subscription${blockWords([
      ...(header === "ocp-apim-subscription-key"
        ? []
        : [header === null ? "header none" : `header "${header}"`]),
      ...(query === "subscription-key" ? [] : [query === null ? "query none" : `query "${query}"`]),
      ...(forward ? ["forward"] : []),
      ...(status === 401 ? [] : [`status ${status}`]),
    ])}`,
  "any-of": ({ steps }, words) => steps.map((id) => words.of(id)).join(" or "),
  require: ({ relation, object, user, store }, { severalStores }) =>
    `require ${relation} of ${textWords(object)} for ${textWords(user)}${severalStores ? ` in ${store}` : ""}`,
  "set-header": ({ action, name, value }) =>
    `header ${action} "${name}"${value === undefined ? "" : ` ${textWords(value)}`}`,
  "set-query": ({ action, name, value }) =>
    `query ${action} ${JSON.stringify(name)}${value === undefined ? "" : ` ${textWords(value)}`}`,
  rewrite: ({ path }) => `rewrite ${textWords(path)}`,
  "set-host": ({ host }) =>
    typeof host === "object" && "preserve" in host
      ? "forward-host preserve"
      : `forward-host ${textWords(host)}`,
  "set-body": ({ media, body }) => `body set ${media} ${contentWords(body)}`,
  respond: ({ status, body, headers }) =>
    `respond ${status}${blockWords([
      ...(body === undefined ? [] : [`body ${body.media} ${contentWords(body.text)}`]),
      ...headers.map(({ name, value }) => `header "${name}" ${textWords(value)}`),
    ])}`,
  when: ({ test, matched, otherwise }, words) =>
    `when (${test.text}) { ${words.list(matched)} }${otherwise.length === 0 ? "" : ` else { ${words.list(otherwise)} }`}`,
  deprecation: ({ deprecated, sunset, closed }) =>
    [
      ...(deprecated ? ["deprecated"] : []),
      ...(sunset === undefined ? [] : [`sunset ${sunset}${closed ? " then 410" : ""}`]),
    ].join("; "),
  forward: ({ backend }, { body }) => {
    if (backend === null) return "forward"
    const target = ownOf(body.backends, backend)?.targets[0]
    return backend.startsWith("inline-") && target !== undefined
      ? `backend ${textWords(target.url)}`
      : `backend ${backend}`
  },
}

/** `(CEL)` where an expression is the whole content. */
function contentWords(text: Text): string {
  const [only, ...more] = typeof text === "string" ? [text] : text.text
  return typeof only === "object" && "expression" in only && more.length === 0
    ? `(${only.expression.text})`
    : textWords(text)
}
