import type { LoadText, Text } from "../../../runtime/plan/text.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { uncovered } from "../../analysis/same.ts"
import { codeWords, listWords, textWords } from "../../analysis/words.ts"
import type { Report } from "../../core/diagnostic.ts"
import { isOriginPattern, registeredMethods } from "../../core/http-words.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import { textOf } from "../../core/source.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf } from "../bind/bound.ts"
import type { StepContext } from "../lower/step.ts"
import { statement, textsOf, timeText } from "../print.ts"
import { many, oneOf, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"

type Cors = Fields<"cors">
type Sides = { readonly before: Cors; readonly after: Cors }

/** `cors { … }` */
export const corsStatement: StatementDefinition = {
  row: {
    keyword: "cors",
    forms: [{ args: [], block: "cors", blockRequired: true }],
    docs: "Which pages of other sites may call the API and read its responses. Preflight requests are answered before everything else. The nearest block with `cors` decides.",
    example: 'cors { origins "https://app.acme.example"; methods GET POST }',
  },
  lower: (bound, context) => {
    const { report, steps } = context
    const { block } = bound
    checkMethods(block, report)
    const originsAt = statementOf(block, "origins")
    const origins = originsAt === undefined ? undefined : lowerOrigins(originsAt, context)
    if (origins === undefined) return undefined
    const credentials = statementOf(block, "credentials")
    // The Fetch standard ignores `*` together with credentials, so browsers would refuse every response.
    if (credentials !== undefined && origins.includes("*")) {
      report.add(
        "SP3040",
        credentials.statement.keyword.span,
        "every site would call with the caller's own credentials",
        {
          related:
            originsAt === undefined ? [] : [{ span: headSpan(originsAt.statement), message: "`origins *`" }],
        },
      )
      return undefined
    }
    const names = (keyword: string): string[] => {
      const statement = statementOf(block, keyword)
      if (statement === undefined) return []
      return statement.args.get("header") === undefined
        ? ["*"]
        : // Sorted and without duplicates: order has no meaning here, and equal rules get equal digests.
          [...new Set(statement.args.values<string>("header"))].sort()
    }
    const maxAgeMs = statementOf(block, "max-age")?.args.value<number>("time") ?? 0
    return steps.add(
      {
        kind: "cors",
        origins,
        methods: [...new Set(statementOf(block, "methods")?.args.values<string>("method") ?? [])].sort(),
        headers: names("headers"),
        expose: names("expose"),
        credentials: credentials !== undefined,
        maxAgeSeconds: maxAgeMs / 1000,
        terminateUnmatched: statementOf(block, "forward-unmatched") === undefined,
      },
      headSpan(bound.statement),
    )
  },
}

/** The step for pages of some origins that may do what any caller without cookies may do. */
export function corsForPages(origins: readonly LoadText[]): Cors & { readonly kind: "cors" } {
  const anything = { methods: ["*"], headers: ["*"], expose: ["*"] }
  return {
    ...{ kind: "cors", origins: [...new Set(origins)], ...anything, credentials: false },
    ...{ maxAgeSeconds: 0, terminateUnmatched: false },
  }
}

/** The statements in the block of `cors`. */
export const corsRows: readonly StatementRow[] = [
  {
    keyword: "origins",
    required: true,
    forms: [{ args: [oneOf([word("*")], [many(slot("origin", "quoted"), 1000)])] }],
    docs: "The allowed origins, as browsers send them in `Origin`. `https://*.acme.example` is every host below, `*` is every site.",
    example: 'origins "https://app.acme.example"',
  },
  {
    keyword: "methods",
    forms: [{ args: [many(slot("method", "method"), 50)] }],
    byDefault: "GET POST",
    docs: "The methods pages may use, or `*`.",
    example: "methods GET PUT DELETE",
  },
  {
    keyword: "headers",
    forms: [{ args: [oneOf([word("*")], [many(slot("header", "header-name"), 200)])] }],
    byDefault: "only the headers that CORS always allows",
    docs: "The headers pages may send, or `*`.",
    example: 'headers "Authorization" "Content-Type"',
  },
  {
    keyword: "expose",
    forms: [{ args: [oneOf([word("*")], [many(slot("header", "header-name"), 200)])] }],
    byDefault: "only the headers that CORS always allows",
    docs: "The response headers that pages may read.",
    example: 'expose "X-Request-Id"',
  },
  {
    keyword: "credentials",
    forms: [{ args: [] }],
    docs: "Browsers may send cookies and certificates along. Not with `origins *`.",
    example: "credentials",
  },
  {
    keyword: "max-age",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 86_400_000, wholeSeconds: true })] }],
    byDefault: "browsers ask each time",
    docs: "How long browsers keep the response to a preflight request.",
    example: "max-age 10m",
  },
  {
    keyword: "forward-unmatched",
    forms: [{ args: [] }],
    byDefault: "a preflight request that matches no rule gets an empty 200",
    docs: "A preflight request that matches no rule is handled like any request.",
    example: "forward-unmatched",
  },
]

/** The allowed origins. Browsers compare an origin exactly, so one with a path or without a scheme would never match. */
function lowerOrigins(statement: BoundStatement, context: StepContext): Text[] | undefined {
  if (statement.args.get("origin") === undefined) return ["*"]
  const origins: Text[] = []
  let wrong = false
  for (const { argument } of statement.args.all("origin")) {
    const text = argument.kind === "text" ? context.texts.lower(argument, context.place) : undefined
    if (text !== undefined) origins.push(text)
    // The gateway ignores a final `/`, so a value of the environment may have one. Written here, it is a mistake about what an origin is.
    const slash = typeof text === "string" && /^"[^"]*[^"/]\/"$/.test(textOf(argument.span))
    if (text !== undefined && mayBeOrigin(text) && !slash) continue
    wrong = true
    if (text === undefined) continue
    const written = typeof text === "string" ? text : textOf(argument.span)
    if (slash && mayBeOrigin(text)) {
      const detail = `\`${shown(written)}\` ends with \`/\`: an origin is scheme, host and port, without a path`
      const { file, end } = argument.span
      const fix = [{ span: file.span(end - 2, end - 1), text: "" }]
      context.report.add("SP2039", argument.span, detail, { help: "Remove the `/` at the end.", fix })
      continue
    }
    const path = /^[a-z+.-]+:\/\/[^/]+(?<path>\/.*)$/i.exec(written)?.groups?.["path"]
    const beyond = path === undefined ? "" : `Remove the path \`${shown(path)}\`. `
    context.report.add(
      "SP2039",
      argument.span,
      `\`${shown(written)}\` is not the origin of a site: it would never match`,
      {
        help: `${beyond}Write scheme, host and perhaps port, e.g. \`"https://app.acme.example"\` or \`"https://*.acme.example"\`.`,
      },
    )
  }
  return wrong ? undefined : origins
}

/**
 * Whether a text can be an origin. If parts are only known later, checks the text after the last of them: a path there matches no origin.
 */
function mayBeOrigin(text: Text): boolean {
  if (typeof text === "string") return isOriginPattern(text)
  const last = "text" in text ? text.text.at(-1) : undefined
  return typeof last !== "string" || !/\/[^/]/.test(last.replace("://", ""))
}

/** Warns about methods that are probably misspelt: a preflight never asks for them. */
function checkMethods(block: BoundBlock | undefined, report: Report): void {
  for (const { argument, value } of statementOf(block, "methods")?.args.all("method") ?? []) {
    const method = value as string
    if (method === "*" || registeredMethods.includes(method)) continue
    const hint = didYouMean(method, registeredMethods)
    report.add("SP2041", argument.span, `browsers never send the method \`${shown(method)}\`${hint}`)
  }
}

/** Printing and comparison of a step that defines which pages of other origins can call. */
export const cors: StepText<"cors"> = {
  print: ({ origins, methods, headers, expose, credentials, maxAgeSeconds, terminateUnmatched }) =>
    statement(
      "cors",
      `origins${namesText(origins)}`,
      methods.length > 0 && `methods ${methods.join(" ")}`,
      headers.length > 0 && `headers${namesText(headers)}`,
      expose.length > 0 && `expose${namesText(expose)}`,
      credentials && "credentials",
      maxAgeSeconds > 0 && `max-age ${timeText(maxAgeSeconds)}`,
      !terminateUnmatched && "forward-unmatched",
    ),
  identities: () => ["cors"],
  added: ({ origins, credentials }) =>
    opens(
      `cross-origin requests from ${originWords(origins)} are now allowed${credentials ? ", with the caller's own credentials" : ""}`,
    ),
  removed: ({ origins }, { takesOptions }) => [
    breaking(`cross-origin requests from ${originWords(origins)} are no longer allowed`),
    ...(takesOptions ? [opens("preflight requests go to the backend")] : []),
  ],
  changed: {
    origins: originChanges,
    methods: methodChanges,
    headers: requestHeaderChanges,
    expose: exposeChanges,
    credentials: (_, after) =>
      after
        ? opens("cross-origin requests may carry the caller's own credentials")
        : breaking("cross-origin requests can no longer carry the caller's own credentials"),
    maxAgeSeconds: () => neutral("browsers keep the response to a preflight request for another time"),
    terminateUnmatched: (_, after) =>
      after
        ? closes("preflight requests that match no rule get an empty 200")
        : opens("preflight requests that match no rule go to the backend"),
  } satisfies FieldRules<Cors>,
}

function namesText(names: readonly Text[]): string {
  return names.includes("*") ? " *" : textsOf(names)
}

function originWords(origins: Cors["origins"]): string {
  if (origins.includes("*")) return "every site"
  return listWords(
    origins.map((origin) =>
      typeof origin === "string" ? `\`${origin}\`` : "a site that is computed per request",
    ),
  )
}

/** Changes in the pages that can call. */
function originChanges(before: Cors["origins"], after: Cors["origins"]): Finding[] {
  const { added, removed } = uncovered(before.map(originKey), after.map(originKey), coversOrigin)
  const pages = (origins: readonly string[]) => (origins.includes("*") ? "every site" : codeWords(origins))
  return otherNames(added, removed, {
    opens: `cross-origin requests from ${pages(added)} are now allowed`,
    breaking: removed.includes("*")
      ? `only cross-origin requests from ${pages(after.map(originKey))} are still allowed`
      : `cross-origin requests from ${pages(removed)} are no longer allowed`,
    same: "the same sites, written differently",
  })
}

/** Changes in the methods that need a preflight. Without methods, the list means GET and POST. */
function methodChanges(before: Cors["methods"], after: Cors["methods"]): Finding[] {
  const all = (methods: readonly string[]) => (methods.length === 0 ? ["GET", "POST"] : methods)
  const { added, removed } = uncovered(all(before), all(after))
  return otherNames(added, removed, {
    opens: `cross-origin requests may now use ${added.includes("*") ? "every method" : codeWords(added)}`,
    breaking: removed.includes("*")
      ? `cross-origin requests can use only ${codeWords(all(after))} instead of every method`
      : `cross-origin requests can no longer use ${codeWords(removed)}`,
    same: "the same methods, written differently",
  })
}

/** Changes in the request headers that pages can set. */
function requestHeaderChanges(before: Cors["headers"], after: Cors["headers"]): Finding[] {
  const { added, removed } = uncovered(before, after)
  return otherNames(added, removed, {
    opens: `cross-origin requests may now have ${added.includes("*") ? "every header" : codeWords(added)}`,
    breaking: removed.includes("*")
      ? `cross-origin requests can have ${after.length === 0 ? "only the headers that CORS always allows" : `only ${codeWords(after)}`} instead of every header`
      : `cross-origin requests can no longer have ${codeWords(removed)}`,
    same: "the same headers, written differently",
  })
}

/** Changes in the response headers that pages can read. With credentials, `*` is an ordinary header name (Fetch standard section 3.2.1). */
function exposeChanges(before: Cors["expose"], after: Cors["expose"], sides: Sides): Finding[] {
  const readable = (names: readonly string[], { credentials }: Cors) =>
    credentials ? names.filter((name) => name !== "*") : names
  const [old, next] = [readable(before, sides.before), readable(after, sides.after)]
  const { added, removed } = uncovered(old, next)
  return otherNames(added, removed, {
    opens: `pages of other sites may now read ${added.includes("*") ? "every response header" : codeWords(added)}`,
    breaking: removed.includes("*")
      ? `pages of other sites can read ${next.length === 0 ? "only the headers that CORS always allows" : `only ${codeWords(next)}`} instead of every response header`
      : `pages of other sites can no longer read ${codeWords(removed)}`,
    same: "the same headers can be read, written differently",
  })
}

/** The findings for a changed list of names. */
function otherNames(
  added: readonly string[],
  removed: readonly string[],
  words: { readonly opens: string; readonly breaking: string; readonly same: string },
): Finding[] {
  return [
    ...(added.length === 0 ? [] : [opens(words.opens)]),
    ...(removed.length === 0 ? [] : [breaking(words.breaking)]),
    ...(added.length + removed.length === 0 ? [neutral(words.same)] : []),
  ]
}

/** An origin as browsers send it: in lower case, without default port and path. An origin evaluated per request is compared by its text. */
function originKey(origin: Cors["origins"][number]): string {
  if (typeof origin !== "string") return textWords(origin)
  const lower = origin.toLowerCase().replace(/\/$/, "")
  return lower.startsWith("https://") ? lower.replace(/:443$/, "") : lower.replace(/:80$/, "")
}

/** `https://*.example.com` matches every name below `example.com`, but only the given port. */
function coversOrigin(wide: string, narrow: string): boolean {
  if (wide === narrow) return true
  const [scheme, host] = wide.split("://*.", 2)
  if (scheme === undefined || host === undefined) return false
  return narrow.startsWith(`${scheme}://`) && narrow.endsWith(`.${host}`)
}
