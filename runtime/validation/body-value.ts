import { FormProblem, partsOf } from "./multipart.ts"
import { decodeText, pairsOf } from "./pairs.ts"
import { objectOf } from "./parameter-value.ts"
import type { Shape } from "./shape.ts"

const fieldsMax = 1000

/** The fields of a form body as the object its schema judges, or what is wrong with the form. */
export type FormValue = { readonly value: unknown } | { readonly problem: string }

/** A form of `application/x-www-form-urlencoded`. */
export function formValue(text: string, shape: Shape): FormValue {
  const pairs = pairsOf(text)
  if (pairs.length > fieldsMax) return { problem: `has more than ${fieldsMax} fields` }
  return {
    value: objectOf(
      pairs.map(({ name, raw }) => [name, decodeText(raw)] as const),
      shape,
    ),
  }
}

/** A form of `multipart/form-data`. Files are texts with a character per byte; parts of JSON are what they say. */
export function multipartValue(body: Buffer, contentType: string, shape: Shape): FormValue {
  try {
    const texts: [string, string][] = []
    const others = new Map<string, unknown[]>()
    for (const { name, filename, media, content } of partsOf(body, contentType)) {
      if (filename === undefined && media.startsWith("text/")) texts.push([name, content.toString("utf8")])
      else {
        const value = isJson(media) ? parsed(content.toString("utf8"), name) : content.toString("latin1")
        others.set(name, [...(others.get(name) ?? []), value])
      }
    }
    const value = objectOf(texts, shape)
    for (const [name, all] of others) {
      const list = shape.properties.get(name)?.types.has("array") === true || all.length > 1
      Object.defineProperty(value, name, {
        value: list ? all : all[0],
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return { value }
  } catch (error) {
    if (error instanceof FormProblem) return { problem: error.message }
    throw error
  }
}

function isJson(media: string): boolean {
  return media === "application/json" || media.endsWith("+json")
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new FormProblem(`has a part \`${name.slice(0, 100)}\` that is no JSON`)
  }
}
