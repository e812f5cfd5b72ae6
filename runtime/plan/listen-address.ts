import { isIPv4, isIPv6 } from "./ip-text.ts"
import type { Address } from "./resources.ts"

/**
 * Reads an address as it is written: `127.0.0.1:8000`, `[::1]:8000`, `localhost:8000`. An IPv6 host is returned without brackets, in the spelling of
 * RFC 5952; a name in lower case. For anything else, `problem` completes "`TEXT` …".
 */
export function readListenAddress(text: string): Address | { readonly problem: string } {
  const found = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,6})$/.exec(text)
  if (found === null) {
    // A port alone is the commonest mistake, and has a message of its own.
    if (/^\d+$/.test(text)) return { problem: "has no address" }
    // `::1` alone ends in digits behind a colon, like a port.
    return {
      problem: isIPv6(text)
        ? "is an IPv6 address without brackets and port"
        : "is not an address with a port",
    }
  }
  const port = Number(found[3])
  if (port < 1 || port > 65_535) return { problem: "has no valid port: ports go from 1 to 65535" }
  const [, inBrackets, host = ""] = found
  if (inBrackets !== undefined)
    return isIPv6(inBrackets) && !inBrackets.includes("%")
      ? { host: new URL(`http://[${inBrackets}]`).hostname.slice(1, -1), port }
      : { problem: "has no IPv6 address in its brackets" }
  if (isIPv4(host)) return { host, port }
  // Digits and dots that are no IPv4 address would otherwise pass as a host name (RFC 1123, section 2.1).
  if (/^[\d.]+$/.test(host)) return { problem: "has no valid IPv4 address" }
  return isHostName(host) ? { host: host.toLowerCase(), port } : { problem: "has no valid host" }
}

/** Whether a name is a valid DNS host name (RFC 1123 §2.1). */
function isHostName(host: string): boolean {
  return (
    host.length <= 253 && /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?$/.test(host)
  )
}
