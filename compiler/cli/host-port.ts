import { CliError } from "./command.ts"

/** A host and a port; an IPv6 host has no brackets. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** Reads `host:port`, an IPv6 host in brackets. `what` names where the text comes from. */
export function readHostPort(text: string, what: string): HostPort {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port }
  throw new CliError(
    `${what} is not an address: \`${text}\``,
    "An address is HOST:PORT, e.g. 127.0.0.1:8082 or [::1]:8082.",
  )
}
