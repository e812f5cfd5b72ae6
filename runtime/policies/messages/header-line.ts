import type { HeaderLines } from "../../plan/step-values.ts"
import type { Text } from "../../plan/text.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { constantHeader, headerText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import type { HeaderList } from "./header-list.ts"
import { headerNameText, linesOf } from "./header-names.ts"
import { compileLocation } from "./location.ts"

/** A line of a header: as `HeaderLines` have it, with a name that may be found per request. */
type Line = Omit<HeaderLines[number], "name"> & { readonly name: string | { readonly text: Text } }

/** Compiles one line of a header for any list of fields. */
export function compileHeaderLine(
  line: Line,
  provision: Provision,
): (headers: HeaderList, exchange: Exchange) => void {
  const { action } = line
  if (action !== "remove" && line.values.length === 0)
    throw new Error(`a header: \`${action}\` needs a value`)
  const nameOf =
    typeof line.name === "string" ? undefined : compileText(line.name.text, provision, headerNameText)
  const constantName = typeof line.name === "string" ? line.name : nameOf?.constant?.toLowerCase()
  const valuesOf = compileValues(line, constantName, provision)
  const apply = actions[action]
  return (headers, exchange) => {
    const name = constantName ?? nameOf?.of(exchange) ?? ""
    apply(headers, name, action === "remove" ? [] : linesOf(name, valuesOf(exchange)))
  }
}

function compileValues(
  line: Line,
  name: string | undefined,
  provision: Provision,
): (exchange: Exchange) => string[] {
  const texts = line.values.map((value) => {
    const text =
      name === "location" ? compileLocation(value, provision) : compileText(value, provision, headerText)
    const { constant } = text
    return constant === undefined ? text : { constant: constantHeader(constant, name ?? "…"), of: text.of }
  })
  return (exchange) => texts.map((text) => text.constant ?? text.of(exchange))
}

type Apply = (headers: HeaderList, name: string, values: readonly string[]) => void

const append: Apply = (headers, name, values) => {
  for (const value of values) headers.append(name, value)
}

const actions: Readonly<Record<Line["action"], Apply>> = {
  set: (headers, name, [first = "", ...more]) => {
    headers.set(name, first)
    append(headers, name, more)
  },
  append,
  default: (headers, name, values) => {
    if (headers.get(name) === undefined) append(headers, name, values)
  },
  remove: (headers, name) => headers.remove(name),
}
