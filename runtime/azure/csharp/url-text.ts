import type { PolicyUrl } from "./ports.ts"

/** A URL as a text, with the port where it is not the scheme's. */
export function urlText({ scheme, host, port, path, queryString }: PolicyUrl): string {
  const isUsual = port === (scheme === "https" ? 443 : 80)
  return `${scheme}://${host}${isUsual ? "" : `:${port}`}${path}${queryString}`
}
