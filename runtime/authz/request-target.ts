import type { IncomingRequest } from "../http/server/incoming.ts"

/** The path of a request, as sent and without the query; empty for a target without a path (`*`). */
export function pathOf(request: IncomingRequest): string {
  const target = originForm(request)
  const mark = target.indexOf("?")
  return mark < 0 ? target : target.slice(0, mark)
}

/** The part of the target after the question mark. */
export function queryOf(request: IncomingRequest): string {
  const target = originForm(request)
  const mark = target.indexOf("?")
  return mark < 0 ? "" : target.slice(mark + 1)
}

/** RFC 9112 section 3.2: clients send a path. The form with scheme and host, which is for proxies, means the same. */
function originForm({ url = "" }: IncomingRequest): string {
  if (url.startsWith("/")) return url
  const rest = /^https?:\/\/[^/?#]+(.*)$/is.exec(url)?.[1]
  if (rest === undefined) return ""
  return rest.startsWith("/") ? rest : `/${rest}`
}
