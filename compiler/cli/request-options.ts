import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import { resolve } from "node:path"
import type { ExplainRequestQuestion } from "../../runtime/control/api.ts"
import { readHeaderLine } from "../gateway-test/header-line.ts"
import { CliError, type OptionValues } from "./command.ts"
import type { Io } from "./io.ts"
import { readClaims, textOf } from "./options.ts"

/** The options that describe a request and its caller. */
export const requestOptions = [
  ["--host <name>", "host of the request (default: localhost)"],
  ["--as <user>", "assume that authentication succeeds, with this `sub` or subscription name"],
  ["--claim <name=value...>", "another claim of that token; the value is JSON or text"],
  ["--token <token>", "token, sent where the route expects it"],
  ["--key <key>", "subscription key, sent where the route expects it"],
  ["-H, --header <line...>", "request header, `name: value`"],
  ["--body <file>", "file with the request body"],
  ["--websocket", "add the headers that request a WebSocket"],
  ["--ip <address>", "client address (default: 127.0.0.1)"],
] as const

/** `--as` assumes a successful authentication, so a credential beside it would have no meaning. */
export function questionOf(method: string, target: string, options: OptionValues): ExplainRequestQuestion {
  const as = filled(options, "as")
  const claims = readClaims(options)
  if (as === undefined && Object.keys(claims).length > 0)
    throw new CliError(
      "--claim needs --as: it adds a claim to the token of that user",
      "For example: --as ann --claim scope=orders.read",
    )
  const given = { token: filled(options, "token"), key: filled(options, "key") }
  if (as !== undefined && (given.token !== undefined || given.key !== undefined))
    throw new CliError("--as cannot be combined with a token or key", "Remove all but one of them.")
  const headers = listOf(options, "header").map((line): [string, string] => {
    const field = readHeaderLine(line)
    if (field === undefined)
      throw new CliError(`\`${line}\` is not a header`, 'Write `--header "name: value"`.')
    return [...field]
  })
  if (options["websocket"] === true) {
    if (method !== "GET")
      // The headers that a client library adds by itself, so that the route is treated like a WebSocket.
      throw new CliError("a WebSocket request has the method GET", "Write GET, or remove --websocket.")
    headers.push(...upgradeHeaders)
  }
  const ip = filled(options, "ip")
  if (ip !== undefined && isIP(ip) === 0)
    throw new CliError(`\`${ip}\` is not an IP address`, "For example: --ip 203.0.113.7")
  const said = { host: filled(options, "host"), ip, ...given }
  return {
    ...{ method, target, headers },
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
    ...(as === undefined ? {} : { claims: { sub: as, ...claims } }),
  }
}

/** RFC 6455 §4.1; the key can be any 16 bytes. */
const upgradeHeaders: readonly [string, string][] = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
  ["Sec-WebSocket-Version", "13"],
  ["Sec-WebSocket-Key", "c2FsbHlwb3J0LWV4cGxhaQ=="],
]

/** The text of an option; an empty text counts as absent. */
export function filled(options: OptionValues, name: string): string | undefined {
  return textOf(options, name) || undefined
}

/** The values of an option that may be repeated. */
export function listOf(options: OptionValues, name: string): readonly string[] {
  const value = options[name]
  return Array.isArray(value) ? (value as readonly string[]) : []
}

/** The body is bytes: it need not be text. */
export async function readBody(io: Io, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(io.cwd, file))
  } catch (error) {
    throw new CliError(
      `the body ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      "Check the path after --body.",
    )
  }
}
