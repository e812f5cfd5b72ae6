import type { CsharpExpression } from "../plan/text.ts"
import type { Exchange } from "../policies/exchange.ts"
import { blamed } from "../policies/messages/answer.ts"
import type { Provision } from "../policies/policy.ts"
import type { TraceLog } from "../policies/ports.ts"
import { type CsharpSurroundings, csharpContext } from "./context.ts"
import { compileProgram } from "./csharp/compile.ts"
import { toText } from "./csharp/values.ts"

/** Compiles an expression of a policy document. The bodies it reads become needs of the step. The returned function throws CsharpError. */
export function compileCsharpValue(
  expression: CsharpExpression,
  provision: Provision,
): (exchange: Exchange) => unknown {
  const { program } = expression
  provision.need(program.needs)
  const run = compileProgram(program)
  const around = surroundings(namedValues(program.body, provision), provision.traceLog())
  return (exchange) => {
    try {
      return run(csharpContext(exchange, around))
    } catch (error) {
      throw blamed(error, expression)
    }
  }
}

/** A value as a body: bytes unchanged, null as an empty body, everything else as its text. */
export function csharpBytes(value: unknown): Buffer {
  if (value === null || value === undefined) return Buffer.alloc(0)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return Buffer.from(toText(value))
}

type NamedValues = ReadonlyMap<string, string>

/** Looks up the named values and secrets of a program at load time, so that a missing one is found before any request. */
function namedValues(body: unknown, provision: Provision): NamedValues {
  const found = new Map<string, string>()
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(walk)
    else if (typeof node === "object" && node !== null) {
      const { k, kind, name } = node as { k?: unknown; kind?: unknown; name?: unknown }
      if (k === "named" && typeof name === "string")
        found.set(`${kind} ${name}`, kind === "secret" ? provision.secret(name) : provision.value(name))
      Object.values(node).forEach(walk)
    }
  }
  walk(body)
  return found
}

function surroundings(named: NamedValues, log: TraceLog): CsharpSurroundings {
  return {
    trace: ({ id }, source, message) =>
      log.write({
        requestId: id,
        source,
        severity: "verbose",
        message: message.slice(0, 4096),
        metadata: {},
      }),
    namedValue: (kind, name) => {
      const value = named.get(`${kind} ${name}`)
      if (value === undefined) throw new Error(`there is no ${kind} \`${name}\``)
      return value
    },
  }
}
