import { Refused } from "../policies/messages/answer.ts"
import { messageOf } from "../policies/messages/message.ts"
import type { AzureWing, MakeBody, Provision } from "../policies/policy.ts"
import { type KeptValue, keep, restore } from "./csharp/plain-value.ts"
import { toText } from "./csharp/values.ts"
import { compileCsharpValue, csharpBytes } from "./csharp-value.ts"
import { compileTemplate, TemplateProblem } from "./liquid/compile-template.ts"
import { liquidVariables, type ReadAhead, readAhead } from "./liquid-variables.ts"

/** C# and Liquid, loaded by `import()` only for plans that use them. */
export const azure: AzureWing = {
  compileValue: compileCsharpValue,
  textOf: toText,
  bytesOf: csharpBytes,
  compileLiquid,
  keep,
  restore: (kept) => restore(kept as KeptValue),
}

/** Compiles a template. `of`: the message that it reads as `body`. */
function compileLiquid(
  { liquid: source, xsiNil = "blank" }: Parameters<AzureWing["compileLiquid"]>[0],
  of: "request" | "response",
  provision: Provision,
): MakeBody {
  const template = compileTemplate(source)
  const readsBody = /\bbody\b/.test(source)
  if (readsBody) provision.need(messageOf(of).needs)
  return (exchange) => {
    const make = (ahead?: ReadAhead): Buffer | Promise<Buffer> => {
      try {
        const made = template.render(
          liquidVariables(exchange, of, xsiNil, ahead),
          undefined,
          provision.clock.now,
        )
        return made instanceof Promise ? made.then((text) => Buffer.from(text), failed) : Buffer.from(made)
      } catch (error) {
        return failed(error)
      }
    }
    const reading = readsBody ? readAhead(exchange, of) : undefined
    return reading === undefined ? make() : reading.then(make)
  }
}

/** A malformed body is the sender's fault, not the template's. */
function failed(error: unknown): never {
  throw error instanceof TemplateProblem && error.cause instanceof Refused ? error.cause : error
}
