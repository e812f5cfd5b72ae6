import type { Server } from "./api-document.ts"

/** Where a document says it is served, as the URL of a backend; undefined where it says none that can be one. */
export function suggestedBackend(servers: readonly Server[]): string | undefined {
  const urls = servers.flatMap(({ url }) => backendUrl(url) ?? [])
  return urls.find((url) => url.startsWith("https:")) ?? urls[0]
}

/** A server as a backend: without what a base path can't have. */
function backendUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^{}\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  const { protocol, host, pathname, username, search, hash } = new URL(text)
  if (username !== "" || search !== "" || hash !== "") return undefined
  return `${protocol}//${host}${pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "")}`
}
