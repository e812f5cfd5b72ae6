/** Methods of the IANA registry (RFC 9110 section 16.1.1), without PRI and `*`, which no request uses. */
export const registeredMethods: readonly string[] = (
  "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL " +
  "MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH TRACE UNBIND " +
  "UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL"
).split(" ")

/**
 * Whether a text is an origin as a browser sends it in `Origin` (RFC 6454 section 6.2): scheme, host and port, with `*.` for all
 * subdomains. Ignores letter case, the default port and a final `/`. An internationalized host must be in its ASCII form.
 */
export function isOriginPattern(text: string): boolean {
  if (text === "*" || text === "null") return true
  const lower = text.toLowerCase().replace(/\/$/, "")
  const form = /^(https?):\/\/(?:\*\.)?([^/?#@\s*]+)$/.exec(lower)
  if (form === null) return false
  const [, scheme, host = ""] = form
  const plain = host.replace(scheme === "https" ? /:443$/ : /:80$/, "")
  try {
    return new URL(`${scheme}://${host}`).host === plain
  } catch {
    return false
  }
}
