import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { StepOf } from "../../runtime/plan/steps.ts"
import { breaking, type Finding, neutral, opens } from "../analysis/finding.ts"
import { noOwnCredentials } from "../analysis/seen-by-backend.ts"
import { fromCaller, secretsIn } from "../analysis/text-findings.ts"
import type { TextKind } from "../gateway/step-texts.ts"
import { type ContentKind, secondsWords } from "./content-words.ts"
import type { FlowKind } from "./flow-words.ts"

type Kinds = Exclude<ContentKind | FlowKind, "retry" | "parallel" | "cache-value" | TextKind>
type Effects = {
  readonly [Kind in Kinds]: (step: StepOf<Kind>, steps: PlanBody["steps"]) => readonly Finding[] | Finding
}

/** What it means that a step that changes messages, or where they go, is there now. */
export const contentAdded: Effects = {
  "validate-headers": ({ headers, described = [], named = [], unspecified }) =>
    prevents([
      unspecified,
      ...[...headers, ...described.flatMap((each) => each.headers), ...named].map(({ action }) => action),
    ])
      ? breaking("answers with other headers become 502")
      : neutral("answers with other headers are noted"),
  "validate-status": ({ codes, unspecified }) =>
    prevents([unspecified, ...codes.map(({ action }) => action)])
      ? breaking("answers with other statuses become 502")
      : neutral("answers with other statuses are noted"),
  trace: ({ message, metadata }) => [
    neutral("a line is written to the log"),
    ...secretsIn([message, metadata]),
  ],
  metric: ({ name }) => neutral(`\`${name}\` is counted`),
  "cache-lookup": ({ authorized }) =>
    authorized
      ? opens("an answer to one caller with a token may be given to another")
      : neutral("answers may come from the cache"),
  "cache-store": ({ seconds }) => neutral(`answers are kept for ${secondsWords(seconds)}`),
  "cache-get": () => neutral("a value is read from the cache"),
  "cache-set": () => neutral("a value is kept in the cache"),
  "cache-remove": () => neutral("a value is taken out of the cache"),
  authenticate: ({ output }) =>
    output === undefined
      ? opens("callers act on the backend in the gateway's name")
      : neutral("a token is got"),
  "send-request": ({ url, wait, ignoreError }) => [
    neutral("another service is asked"),
    ...(wait && ignoreError !== true
      ? [breaking("without its answer the request fails with 502 or 504")]
      : []),
    ...(url !== undefined && fromCaller(url) ? [opens("what callers send is part of the URL")] : []),
    ...secretsIn(url),
  ],
  "set-backend": ({ target }) => otherTarget(target),
}

/** What it means that such a step is gone. */
export const contentRemoved: Effects = {
  "validate-headers": () => opens("the headers of answers are not looked at any more"),
  "validate-status": () => opens("the status of answers is not looked at any more"),
  trace: () => neutral("a line is not written to the log any more"),
  metric: ({ name }) => neutral(`\`${name}\` is not counted here any more`),
  "cache-lookup": () => neutral("answers do not come from the cache any more"),
  "cache-store": () => neutral("answers are not kept any more"),
  "cache-get": () => neutral("a value is not read from the cache any more"),
  "cache-set": () => neutral("a value is not kept in the cache any more"),
  "cache-remove": () => neutral("a value stays in the cache"),
  "send-request": () => neutral("another service is not asked any more"),
  "set-backend": () => opens("requests go to the route's own backend, with what callers send"),
  authenticate: ({ output, authentication }) => {
    if (output !== undefined) return neutral("a token is not got any more")
    return authentication.scheme === "certificate"
      ? breaking("the backend is not told any more who the gateway is")
      : noOwnCredentials("the backend")
  },
}

/** What it means that requests may go somewhere else. */
export function otherTarget(target: StepOf<"set-backend">["target"]): Finding {
  return "url" in target && target.raw
    ? opens("an expression decides where requests go")
    : opens("requests may go to another backend, with what callers send")
}

function prevents(actions: readonly string[]): boolean {
  return actions.includes("prevent")
}
