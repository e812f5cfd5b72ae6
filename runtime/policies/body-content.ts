import { compileTemplate, TemplateProblem } from "../azure/liquid/compile-template.ts"
import { toJson } from "../expression/compile.ts"
import type { JsonSize } from "../expression/to-json.ts"
import type { BodyContent } from "../plan/step-values.ts"
import { Refused } from "./answer.ts"
import { csharpBytes } from "./csharp-value.ts"
import type { Exchange } from "./exchange.ts"
import { anyText } from "./grammars.ts"
import { liquidVariables, type ReadAhead, readAhead } from "./liquid-variables.ts"
import { messageOf } from "./message.ts"
import type { Provision } from "./policy.ts"
import { compileText } from "./text.ts"
import { compileValue } from "./value.ts"

/** Makes the bytes of a body per request; a template that takes long makes them in several turns. */
export type MakeBody = (exchange: Exchange) => Buffer | Promise<Buffer>

/** Compiles what a body is made of. `of`: the message a template reads as `body`. */
export function compileContent(
  content: BodyContent,
  of: "request" | "response",
  provision: Provision,
): MakeBody {
  if ("liquid" in content) return compileLiquid(content.liquid, content.xsiNil ?? "blank", of, provision)
  if ("value" in content) {
    const value = compileValue(content.value, provision)
    if (content.value.lang === "cs") return (exchange) => csharpBytes(value(exchange))
    const most = provision.jsonMost()
    return (exchange) => bytesOf(value(exchange), most)
  }
  const text = compileText(content.text, provision, anyText)
  const constant = text.constant === undefined ? undefined : Buffer.from(text.constant)
  return (exchange) => constant ?? Buffer.from(text.of(exchange))
}

/** A value as a body: texts and bytes as they are, everything else as JSON; null is no body. @throws ExpressionError for more JSON than `most`, see `toJson` */
function bytesOf(value: unknown, most: JsonSize): Buffer {
  if (value === null || value === undefined) return Buffer.alloc(0)
  if (typeof value === "string") return Buffer.from(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return Buffer.from(JSON.stringify(toJson(value, most)))
}

function compileLiquid(
  source: string,
  xsiNil: "blank" | "null",
  of: "request" | "response",
  provision: Provision,
): MakeBody {
  const template = compileTemplate(source)
  const readsBody = /\bbody\b/.test(source)
  if (readsBody) provision.need(messageOf(of).needs)
  return (exchange) => {
    const make = (ahead?: ReadAhead): Buffer | Promise<Buffer> => {
      try {
        const made = template.render(liquidVariables(exchange, of, xsiNil, ahead))
        return made instanceof Promise ? made.then((text) => Buffer.from(text), failed) : Buffer.from(made)
      } catch (error) {
        return failed(error)
      }
    }
    const reading = readsBody ? readAhead(exchange, of) : undefined
    return reading === undefined ? make() : reading.then(make)
  }
}

/** A body that is not what it says is the sender's fault and not the template's. */
function failed(error: unknown): never {
  throw error instanceof TemplateProblem && error.cause instanceof Refused ? error.cause : error
}
