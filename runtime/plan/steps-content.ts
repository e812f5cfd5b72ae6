import { z } from "zod"
import { headerName } from "./header-name.ts"
import { mediaRange } from "./media-range.ts"
import { count, variableName } from "./steps-access.ts"
import { expression, text } from "./text.ts"
import { schemaName } from "./value-schema.ts"

/** Which message of the exchange a step works on. */
export const message = z.enum(["request", "response"])

/** A name known when the plan is made, or found per request and checked then. */
const dynamicName = z.strictObject({ text })

/** `append` adds a line, `default` sets only where absent, `remove` deletes all lines. Several values: one line each, or one list where the field is one. */
export const setHeader = z.strictObject({
  kind: z.literal("set-header"),
  message,
  action: z.enum(["set", "append", "default", "remove"]),
  name: z.union([headerName, dynamicName]),
  values: z.array(text).max(100),
})

/** Query parameter of the request to the backend. */
export const setQuery = z.strictObject({
  kind: z.literal("set-query"),
  action: z.enum(["set", "append", "default", "remove"]),
  name: z.union([z.string().min(1).max(128), dynamicName]),
  values: z.array(text).max(100),
})

/** Path (and perhaps query) of the request to the backend, without the target's own base path; dynamic parts are percent-encoded as one segment each unless `raw`, where the whole is checked for a canonical form only. */
export const rewrite = z.strictObject({
  kind: z.literal("rewrite"),
  path: text,
  raw: z.boolean(),
  /** False: the client's query is dropped. */
  keepQuery: z.boolean(),
  /** What stands in braces in a path that an expression made, as `{order-id}`, and the path parameter it stands for. */
  parameters: z.record(z.string().min(1).max(128), z.string().min(1).max(128)).optional(),
})

/** Method of the request to the backend. */
export const setMethod = z.strictObject({ kind: z.literal("set-method"), method: text })

/** Status of the answer. */
export const setStatus = z.strictObject({
  kind: z.literal("set-status"),
  status: count,
  reason: text.optional(),
})

/** Host header for the backend: the client's own (`preserve`) or a text. Without this step it is the target's. */
export const setHost = z.strictObject({
  kind: z.literal("set-host"),
  host: z.union([z.strictObject({ preserve: z.literal(true) }), text]),
})

/**
 * What a body is made of. `value`: an expression whose value is written as JSON (maps, lists) or as text or bytes (strings, bytes).
 * `liquid`: a template with `body`, `context` (APIM's names) and what the language has (`request`, `var`, …).
 */
export const bodyContent = z.union([
  z.strictObject({ text }),
  z.strictObject({ value: expression }),
  z.strictObject({ liquid: z.string().max(262_144), xsiNil: z.enum(["blank", "null"]).optional() }),
])

export type BodyContent = z.infer<typeof bodyContent>

/** Replaces the whole body; sets Content-Type where `media` says one (else the message's own stays), and Content-Length; fields that described the old body go. */
export const setBody = z.strictObject({
  kind: z.literal("set-body"),
  message,
  media: z.string().max(256).nullable(),
  content: bodyContent,
})

/** Replaces every occurrence of a text in the body. */
export const findReplace = z.strictObject({ kind: z.literal("find-replace"), message, from: text, to: text })

/** Absolute URLs in a body that lead to the chosen backend lead to the gateway instead; in a request the other way round. */
export const maskUrls = z.strictObject({
  kind: z.literal("mask-urls"),
  message,
  /** Those in fields that hold one, such as Location, too. */
  headers: z.boolean(),
})

/** Wraps a JSON answer to GET into a call of the function that the query parameter `callback` names; without the parameter the answer stays JSON. */
export const jsonp = z.strictObject({ kind: z.literal("jsonp"), callback: text })

/** Body from XML to JSON. `direct`: `@attribute`, `#text`; `javascript-friendly`: attributes as plain members. */
export const xmlToJson = z.strictObject({
  kind: z.literal("xml-to-json"),
  message,
  style: z.enum(["direct", "javascript-friendly"]),
  /** `content-type`: only where the message says that it is XML. */
  apply: z.enum(["always", "content-type"]),
  considerAccept: z.boolean(),
  alwaysArray: z.boolean(),
})

/** Body from JSON to XML. */
export const jsonToXml = z.strictObject({
  kind: z.literal("json-to-xml"),
  message,
  apply: z.enum(["always", "content-type"]),
  considerAccept: z.boolean(),
  parseDates: z.boolean(),
  namespaceSeparator: z.string().length(1),
  namespacePrefix: z.string().max(64).optional(),
  attributeBlock: z.string().max(64).optional(),
})

/** What an answer is made of: `respond`, and requests of our own. */
export const headerLines = z
  .array(
    z.strictObject({
      name: headerName,
      action: z.enum(["set", "append", "default", "remove"]),
      values: z.array(text).max(100),
    }),
  )
  .max(100)

/** Ends the section and answers. `from`: the variable with a response to begin with. */
export const respond = z.strictObject({
  kind: z.literal("respond"),
  from: variableName.optional(),
  status: count.optional(),
  reason: text.optional(),
  headers: headerLines,
  media: z.string().max(256).nullable(),
  body: bodyContent.optional(),
  /** The body describes the API, and follows from its routes. */
  documentation: z.literal(true).optional(),
})

/** Sets a variable of the exchange to the value of an expression, or a text. */
export const setVariable = z.strictObject({
  kind: z.literal("set-variable"),
  name: variableName,
  value: z.union([text, z.strictObject({ expression })]),
})

/** What happens on a violation: nothing, a note in variable and log, or 400 (request) and 502 (response). */
export const violation = z.enum(["ignore", "detect", "prevent"])

/** Which answers a description is for: a status, a class, or all that no other is for. */
const describedStatus = z.string().regex(/^(default|[1-5]xx|[1-5][0-9]{2})$/)

/** How a field of a form is written where it is not as forms are: OpenAPI's Encoding Object. `media`: types and ranges of its part. */
const formField = z.strictObject({
  name: z.string().max(256),
  style: z.enum(["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
  explode: z.boolean(),
  media: z.array(z.string().max(256)).max(20),
})

/** What happens on a violation, known when the plan is made or found per request. */
const violationOrFound = z.union([violation, z.strictObject({ expression })])

/**
 * What the media type of a message counts as when its body is judged: what the first rule that fits says, be it by what the message says or by a condition; else `missing` where it says
 * none, else `any`, else what it says.
 */
const mediaMap = z.strictObject({
  rules: z
    .array(
      z.union([
        z.strictObject({ from: mediaRange, to: mediaRange }),
        z.strictObject({ when: expression, to: mediaRange }),
      ]),
    )
    .max(100),
  missing: mediaRange.optional(),
  any: mediaRange.optional(),
})

/**
 * Judges a body by media type, size and schema. `schemas` names a JSON Schema of the plan (`schemas`), compiled once. `*` in `types` is what no other names.
 * All errors, with JSON pointers, go to the variable `errors`. `as` says what the schema is given: a value, a form as an object, the whole as one text; `any` is not looked at, of `xml` and
 * `soap` the form is.
 */
export const validateContent = z.strictObject({
  kind: z.literal("validate-content"),
  message,
  bytesMax: count,
  onSize: violationOrFound,
  onUnspecified: violationOrFound,
  /** There must be a body. */
  onMissing: violation.optional(),
  mediaMap: mediaMap.optional(),
  /** A response's schemas may differ by status: `2xx`, `404`, `default`; absent: any. */
  types: z
    .array(
      z.strictObject({
        media: z.string().max(256),
        status: describedStatus.optional(),
        as: z.enum(["json", "xml", "soap", "form", "multipart", "text", "any"]),
        schema: schemaName.optional(),
        /** Names of properties count in any letter case; those of the schema are in lower case. */
        anyCase: z.literal(true).optional(),
        fields: z.array(formField).max(1000).optional(),
        action: violation,
      }),
    )
    .max(100),
  errors: variableName.optional(),
})

/** One parameter of an operation as OpenAPI 3 describes it. `schema` names a JSON Schema of the plan; with `allowEmpty` it does not judge `?name=`, which is there. */
export const parameterRule = z.strictObject({
  in: z.enum(["path", "query", "header", "cookie"]),
  name: z.string().min(1).max(256),
  required: z.boolean(),
  style: z.enum([
    "simple",
    "form",
    "spaceDelimited",
    "pipeDelimited",
    "deepObject",
    "label",
    "matrix",
    "json",
  ]),
  explode: z.boolean(),
  allowEmpty: z.literal(true).optional(),
  schema: schemaName.optional(),
  action: violation,
})

/**
 * Judges path, query, header and cookie parameters. `unspecified`: what is done about those that no rule is about, `named` about some of them by their names, headers in lower case. `withBody`: what must be prevented is told by the
 * `validate-content` of the request that is the next step of the list, in one answer with the faults of the body.
 */
export const validateParameters = z.strictObject({
  kind: z.literal("validate-parameters"),
  parameters: z.array(parameterRule).max(500),
  unspecified: z.strictObject({
    query: violation,
    header: violation,
    named: z
      .array(
        z.strictObject({
          in: z.enum(["query", "header"]),
          name: z.string().min(1).max(256),
          action: violation,
        }),
      )
      .max(500)
      .optional(),
  }),
  errors: variableName.optional(),
  withBody: z.literal(true).optional(),
})

/** A header field of an answer as OpenAPI 3 describes it: `schema` judges its value, written in the style `simple`, or as JSON. */
export const headerRule = z.strictObject({
  name: headerName,
  required: z.boolean(),
  style: z.enum(["simple", "json"]),
  explode: z.boolean(),
  schema: schemaName.optional(),
  action: violation,
})

/**
 * Judges the response's header fields: those with `required` are there, and none is that is not among them (or one every answer may have). `described` holds for
 * answers with this status: the one that names it, else its class, else `default`. `named`: what is done, in place of `unspecified`, about fields of these names that are in neither list.
 */
export const validateHeaders = z.strictObject({
  kind: z.literal("validate-headers"),
  headers: z
    .array(
      z.strictObject({
        name: headerName,
        required: z.boolean(),
        action: violation,
      }),
    )
    .max(200),
  described: z
    .array(z.strictObject({ status: describedStatus, headers: z.array(headerRule).max(200) }))
    .max(200)
    .optional(),
  named: z
    .array(z.strictObject({ name: headerName, action: violation }))
    .max(200)
    .optional(),
  unspecified: violation,
  errors: variableName.optional(),
})

/** Judges the response's status. */
export const validateStatus = z.strictObject({
  kind: z.literal("validate-status"),
  codes: z
    .array(z.strictObject({ code: z.string().regex(/^([1-5]xx|[1-5][0-9]{2})$/), action: violation }))
    .max(200),
  unspecified: violation,
  errors: variableName.optional(),
})

/** A line in the log (and later the trace) of the exchange. */
export const trace = z.strictObject({
  kind: z.literal("trace"),
  source: text,
  severity: z.enum(["verbose", "information", "error"]),
  message: text,
  metadata: z.array(z.strictObject({ name: z.string().max(256), value: text })).max(50),
})

/** Which of the tokens a language model used for a call, as its answer says. */
export const tokenKind = z.enum(["prompt", "completion", "total"])
export type TokenKind = z.infer<typeof tokenKind>

/** Adds to a counter that /metrics shows; tokens when the exchange has ended. Labels are bounded: after 1,000 series of a metric the rest counts as `other`. */
export const metric = z.strictObject({
  kind: z.literal("metric"),
  name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/),
  value: z.union([z.number(), z.strictObject({ expression }), z.strictObject({ tokens: tokenKind })]),
  labels: z
    .array(
      z.strictObject({ name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/), value: text.optional() }),
    )
    .max(20),
})

/** Deprecation (RFC 9745), Sunset (RFC 8594) and Link successor-version (RFC 8288, 5829) fields on every answer; `closed`: 410 from the sunset date on, at once without one. Dates are ISO days, UTC. */
export const deprecation = z.strictObject({
  kind: z.literal("deprecation"),
  deprecated: z.union([z.boolean(), z.iso.date()]),
  sunset: z.iso.date().optional(),
  closed: z.boolean(),
  successor: z.string().max(2048).optional(),
  documentation: z.string().max(2048).optional(),
})
