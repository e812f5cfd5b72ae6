import type { IncomingMessage } from "node:http"

/** The path of a request, as it was sent and without the query; empty for a target that has none (`*`). */
export function pathOf(request: IncomingMessage): string {
  const target = originForm(request)
  const mark = target.indexOf("?")
  return mark < 0 ? target : target.slice(0, mark)
}

/** What is behind the path's question mark. */
export function queryOf(request: IncomingMessage): string {
  const target = originForm(request)
  const mark = target.indexOf("?")
  return mark < 0 ? "" : target.slice(mark + 1)
}

/** RFC 9112 section 3.2: clients send a path; the form with scheme and host, which proxies are sent, means the same. */
function originForm({ url = "" }: IncomingMessage): string {
  if (url.startsWith("/")) return url
  const rest = /^https?:\/\/[^/?#]+(.*)$/is.exec(url)?.[1]
  if (rest === undefined) return ""
  return rest.startsWith("/") ? rest : `/${rest}`
}
