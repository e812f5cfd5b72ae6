import type { Ajv2020, Format } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { registeredFormats, textFormats } from "../plan/value-schema.ts"

/** Longer texts have none of these formats; some of the patterns behind them take time quadratic in the text. */
const charactersMax = 2048

/** Of OpenAPI's registry: numbers, and texts whose length says nothing. */
const plain = [...registeredFormats, "float", "double", "password", "binary"] as const

/** Adds the formats that are judged; others are for readers. */
export function addKnownFormats(ajv: Ajv2020): void {
  formats.default(ajv as never, { mode: "full", formats: [...textFormats, ...plain] })
  for (const name of textFormats) {
    const fits = testOf(ajv.formats[name] as Format)
    ajv.addFormat(name, (text: string) => text.length <= charactersMax && fits(text))
  }
  // ajv takes any whole number. The largest one of 64 bits is no value of its own here: it reads as 2^63.
  ajv.addFormat("int64", {
    type: "number",
    validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63,
  })
}

function testOf(format: Format): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === "function") return format as (text: string) => boolean
  const validate = (format as { readonly validate: RegExp | ((text: string) => boolean) }).validate
  return validate instanceof RegExp ? (text) => validate.test(text) : validate
}
