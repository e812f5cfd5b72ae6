import { toJson } from "../../expression/compile.ts"
import type { JsonSize } from "../../expression/to-json.ts"
import type { BodyContent } from "../../plan/step-values.ts"
import type { MakeBody, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { azureOf, compileValue } from "../values/value.ts"

/** Compiles the content of a body. `of`: the message that a template reads as `body`. */
export function compileContent(
  content: BodyContent,
  of: "request" | "response",
  provision: Provision,
): MakeBody {
  if ("liquid" in content) return azureOf(provision).compileLiquid(content, of, provision)
  if ("value" in content) {
    const value = compileValue(content.value, provision)
    if (content.value.lang === "cs") {
      const { bytesOf: csharpBytes } = azureOf(provision)
      return (exchange) => csharpBytes(value(exchange))
    }
    const most = provision.jsonMost()
    return (exchange) => bytesOf(value(exchange), most)
  }
  const text = compileText(content.text, provision, anyText)
  const constant = text.constant === undefined ? undefined : Buffer.from(text.constant)
  return (exchange) => constant ?? Buffer.from(text.of(exchange))
}

/**
 * Encodes a value as a body: text and bytes as they are, everything else as JSON; null is an empty body.
 * @throws ExpressionError for JSON larger than `most`, see `toJson`
 */
function bytesOf(value: unknown, most: JsonSize): Buffer {
  if (value === null || value === undefined) return Buffer.alloc(0)
  if (typeof value === "string") return Buffer.from(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return Buffer.from(JSON.stringify(toJson(value, most)))
}
