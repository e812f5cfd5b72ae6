import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { cel, type Drafting } from "./draw.ts"

/** Steps that hold others, or reach beyond the request. */
export const flowDrafts = {
  when: (draw) => ({
    kind: "when",
    test: draw.test,
    matched: [draw.small],
    otherwise: draw.one(true, false, false) ? [draw.small] : [],
  }),
  retry: (draw) => ({
    kind: "retry",
    test: { lang: "cel", text: draw.one("false", draw.test), type: "bool" },
    times: 1,
    intervalSeconds: 0,
    fastFirst: true,
    steps: draw.section === "backend" ? [{ kind: "forward", backend: "main" }] : [draw.small, draw.small],
  }),
  parallel: (draw) => ({
    kind: "parallel",
    until: draw.one("all", "any"),
    branches: [[draw.small], [draw.small]],
  }),
  "send-request": (draw) => ({
    kind: "send-request",
    mode: draw.one("new", "new", "copy"),
    url: draw.one<Text>(`${draw.lane.service}/side`, {
      text: [
        `${draw.lane.service}/side?n=`,
        { expression: { lang: "cel", text: 'request.header("x-a")', type: "string" } },
      ],
    }),
    headers: [],
    media: null,
    timeoutSeconds: 20,
    variable: draw.variable,
    ignoreError: draw.maybe(),
    wait: true,
  }),
  mirror: (draw) => ({
    kind: "mirror",
    backend: draw.one("main", "other"),
    // A copy is not waited for, so it could show in the events of the next request.
    percent: 0,
    bodyBytesMax: 65_536,
    concurrencyMax: 64,
    timeoutMs: 10_000,
    credentials: draw.maybe(),
  }),
  "content-safety": () => ({
    kind: "content-safety",
    backend: "safety",
    categories: [{ name: "Hate", threshold: 4 }],
    levels: "four",
    blocklists: [],
    shieldPrompt: false,
    completions: false,
  }),
  authenticate: (draw) => ({
    kind: "authenticate",
    authentication: draw.one<StepOf<"authenticate">["authentication"]>(
      { scheme: "basic", user: "us", password: draw.text },
      { scheme: "bearer", token: "own" },
      { scheme: "token", client: "own" },
    ),
    ...(draw.maybe() ? { output: draw.variable } : {}),
  }),
  "set-backend": (draw) => ({
    kind: "set-backend",
    target: draw.one<StepOf<"set-backend">["target"]>(
      { backend: "main" },
      { backend: "other" },
      {
        by: cel(draw.expression),
        cases: [{ value: "1", backend: "other" }],
        otherwise: null,
        ...(draw.maybe() ? { strict: true } : {}),
      },
    ),
  }),
  forward: (draw) => ({
    kind: "forward",
    backend: "main",
    ...(draw.maybe() ? { bufferResponse: true } : {}),
  }),
} satisfies { readonly [Kind in StepKind]?: Drafting<Kind> }
