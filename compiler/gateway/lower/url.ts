import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { TextArgument, Word } from "../ast.ts"
import type { Values } from "./values.ts"

/** A URL that is known when the plan is loaded. The known parts are checked now, with the defaults of env(). */
export function lowerUrl(
  argument: TextArgument | Word | undefined,
  values: Values,
  report: Report,
): LoadText | undefined {
  const text = argument === undefined ? undefined : values.loadText(argument)
  if (argument === undefined || text === undefined) return undefined
  const problem = urlProblemOf(text, values)
  if (problem !== undefined) {
    report.add("SP2026", argument.span, problem, {
      help: 'Write e.g. `"http://127.0.0.1:9001"` or `"https://orders.internal/base"`.',
    })
    return undefined
  }
  return text
}

/** The problem of a URL, as far as its value is known now. */
export function urlProblemOf(text: LoadText, values: Values): string | undefined {
  const parts = values.preview(text)
  return parts.includes(undefined) ? partProblem(parts) : urlProblem(parts.join(""))
}

/** The problem of a URL of a backend or issuer. */
function urlProblem(url: string): string | undefined {
  if (url === "") return "the URL is empty"
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the URL parser would remove them silently.
  if (/[\u0000-\u0020\u007f\\]/.test(url))
    return `\`${shown(url)}\` contains a space, backslash or control character`
  const hole = /[<{][^<>{}]*[>}]/.exec(url)?.[0]
  if (hole !== undefined) return `\`${shown(url)}\` still has the placeholder \`${shown(hole)}\``
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase()
  if (scheme === undefined)
    return `\`${shown(url)}\` has no scheme: it must begin with \`http://\` or \`https://\``
  if (scheme !== "http" && scheme !== "https")
    return `\`${shown(url)}\` has the scheme \`${scheme}:\`; only \`http:\` and \`https:\` are supported`
  const authority = /^[^/]*\/\/([^/?#]*)/.exec(url)?.[1] ?? ""
  if (authority.includes("@")) return "the URL contains a user or password, which would appear in logs"
  if (authority === "" || authority.startsWith(":")) return `\`${shown(url)}\` has no host`
  if (url.includes("#")) return `\`${shown(url)}\` has a fragment (\`#\`), which is never sent`
  if (url.includes("?")) return `\`${shown(url)}\` has a query; \`query set\` adds parameters`
  if (/:0*$/.test(authority) || !URL.canParse(url)) return `\`${shown(url)}\` has no valid host and port`
  const path = url.slice(url.indexOf(authority) + authority.length)
  if (path.includes("%")) return `\`${shown(url)}\` has a percent-encoded base path`
  if (path.split("/").some((segment) => segment === "." || segment === "..") || path.includes("//"))
    return `\`${shown(url)}\` has a base path with \`//\`, \`.\` or \`..\``
  return undefined
}

/** The problems that can be found while some values are unknown. */
function partProblem(parts: readonly (string | undefined)[]): string | undefined {
  const known = parts.map((part) => part ?? "").join(" ")
  if (known.includes("#")) return "the URL has a fragment (`#`), which is never sent"
  if (known.includes("?")) return "the URL has a query; `query set` adds parameters"
  if (known.includes("@")) return "the URL contains a user or password, which would appear in logs"
  const [first] = parts
  if (first !== undefined && !/^https?:\/\//i.test(first))
    return `\`${shown(first)}…\` must begin with \`http://\` or \`https://\``
  return undefined
}
