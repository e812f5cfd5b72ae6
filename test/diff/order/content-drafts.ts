import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { cel, type Drafting } from "./draw.ts"

/** Steps that change or judge messages, answer, keep or tell something. */
export const contentDrafts = {
  "rename-header": (draw) => ({
    kind: "rename-header",
    message: draw.message,
    from: draw.one("x-a", "x-b", "x-key"),
    to: draw.one("x-b", "x-c", "origin"),
  }),
  "set-header": (draw) => {
    const action = draw.one<StepOf<"set-header">["action"]>("set", "append", "default", "remove")
    const names = [
      "x-a",
      "x-b",
      "x-c",
      "authorization",
      "cookie",
      "content-type",
      "content-encoding",
      "origin",
    ]
    return {
      kind: "set-header",
      message: draw.message,
      action,
      name: draw.one(...names, ...names, "host", "x-key"),
      values: action === "remove" ? [] : [draw.text],
    }
  },
  "set-query": (draw) => {
    const action = draw.one<StepOf<"set-query">["action"]>("set", "append", "default", "remove")
    return {
      kind: "set-query",
      action,
      name: draw.one("a", "role", "key"),
      values: action === "remove" ? [] : [draw.text],
    }
  },
  rewrite: (draw) => ({
    kind: "rewrite",
    path: draw.one<Text>("/other", "/other?a=9", {
      text: ["/x/", { expression: { lang: "cel", text: draw.expression, type: "string" } }],
    }),
    raw: false,
    keepQuery: draw.maybe(),
  }),
  "set-method": (draw) => ({
    kind: "set-method",
    method: draw.one<Text>("PUT", "POST", cel('request.header("x-a")')),
  }),
  "set-status": (draw) => ({
    kind: "set-status",
    status: draw.one(200, 404, 503),
    ...(draw.maybe() ? { reason: draw.text } : {}),
  }),
  "set-host": (draw) => ({
    kind: "set-host",
    host: draw.one<StepOf<"set-host">["host"]>({ preserve: true }, "a.example", cel('request.header("x-a")')),
  }),
  "set-body": (draw) => ({
    kind: "set-body",
    message: draw.message,
    media: draw.one("application/json", "text/plain", null),
    content: draw.one<StepOf<"set-body">["content"]>(
      { text: '{"k":"hidden"}' },
      { text: draw.text },
      { value: { lang: "cel", text: '{"k": request.header("x-a")}', type: "dyn" } },
      { liquid: "{{ body }} {{ context.Variables.v }} {{ context.Request.Headers['x-a'] }}" },
    ),
  }),
  "find-replace": (draw) => ({
    kind: "find-replace",
    message: draw.message,
    from: draw.one("hidden", "public", "internal"),
    to: draw.text,
  }),
  decompress: (draw) => ({ kind: "decompress", ratioMax: draw.one(10, 100) }),
  "mask-urls": (draw) => ({ kind: "mask-urls", message: draw.message, headers: draw.maybe() }),
  jsonp: (draw) => ({ kind: "jsonp", callback: draw.one("a", "role") }),
  "xml-to-json": (draw) => ({
    kind: "xml-to-json",
    message: draw.message,
    style: "direct",
    apply: draw.one("always", "content-type"),
    considerAccept: draw.maybe(),
    alwaysArray: false,
  }),
  "json-to-xml": (draw) => ({
    kind: "json-to-xml",
    message: draw.message,
    apply: draw.one("always", "content-type"),
    considerAccept: draw.maybe(),
    parseDates: false,
    namespaceSeparator: ":",
  }),
  respond: (draw) => ({
    kind: "respond",
    status: draw.one(200, 403, 404),
    headers: [{ name: "x-own", action: "set", values: [draw.text] }],
    media: "text/plain",
    body: { text: draw.text },
  }),
  "set-variable": (draw) => ({
    kind: "set-variable",
    name: draw.variable,
    value: draw.one<StepOf<"set-variable">["value"]>(draw.text, {
      expression: { lang: "cel", text: draw.expression, type: "dyn" },
    }),
  }),
  "validate-content": (draw) => ({
    kind: "validate-content",
    message: draw.message,
    bytesMax: draw.one(20, 10_000),
    onSize: draw.one("prevent", "detect"),
    onUnspecified: draw.one("prevent", "ignore"),
    types: [{ media: "application/json", as: "json", action: draw.one("prevent", "detect") }],
    errors: draw.variable,
  }),
  "validate-parameters": (draw) => ({
    kind: "validate-parameters",
    parameters: [
      {
        in: draw.one("query", "header"),
        name: draw.one("a", "x-a"),
        required: draw.maybe(),
        style: "simple",
        explode: false,
        action: draw.one("prevent", "detect"),
      },
    ],
    unspecified: { query: draw.one("prevent", "ignore"), header: "ignore" },
    ...(draw.maybe() ? { errors: draw.variable } : {}),
  }),
  "validate-headers": (draw) => ({
    kind: "validate-headers",
    headers: [{ name: "x-b", required: true, action: draw.one("prevent", "detect") }],
    unspecified: draw.one("ignore", "detect"),
  }),
  "validate-graphql": (draw) => ({
    kind: "validate-graphql",
    ...(draw.maybe() ? { depthMax: draw.one(1, 3) } : {}),
    introspection: draw.one("allow", "deny"),
    action: draw.one("prevent", "detect"),
    ...(draw.maybe() ? { errors: draw.variable } : {}),
  }),
  "validate-status": (draw) => ({
    kind: "validate-status",
    codes: [{ code: "404", action: draw.one("prevent", "detect") }],
    unspecified: "ignore",
    errors: draw.variable,
  }),
  trace: (draw) => ({
    kind: "trace",
    source: "test",
    severity: "information",
    message: draw.text,
    metadata: [],
  }),
  metric: (draw) => ({
    kind: "metric",
    name: "seen_total",
    value: draw.one<StepOf<"metric">["value"]>(1, { tokens: "total" }),
    labels: [{ name: "a", value: draw.text }],
  }),
  deprecation: (draw) => ({ kind: "deprecation", deprecated: true, closed: draw.one(true, false, false) }),
  "cache-lookup": () => ({
    kind: "cache-lookup",
    varyHeaders: ["x-a"],
    varyQuery: null,
    authorized: true,
    downstream: "none",
    mustRevalidate: false,
  }),
  "cache-store": () => ({ kind: "cache-store", seconds: 3600 }),
  "cache-get": (draw) => ({
    kind: "cache-get",
    key: `${draw.lane.name} ${draw.one("k", "l")}`,
    variable: draw.variable,
    ...(draw.maybe() ? { default: "absent" } : {}),
  }),
  "cache-set": (draw) => ({
    kind: "cache-set",
    key: `${draw.lane.name} ${draw.one("k", "l")}`,
    value: draw.text,
    seconds: 3600,
  }),
  "cache-remove": (draw) => ({ kind: "cache-remove", key: `${draw.lane.name} ${draw.one("k", "l")}` }),
  "cache-value": (draw) => ({
    kind: "cache-value",
    key: `${draw.lane.name} ${draw.one("k", "l")}`,
    variable: draw.variable,
    seconds: 3600,
    steps: [draw.small, draw.draftOf("set-variable", draw)],
  }),
} satisfies { readonly [Kind in StepKind]?: Drafting<Kind> }
