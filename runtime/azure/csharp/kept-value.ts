import { CsharpError } from "../../expression/expression-error.ts"
import { DateTime } from "./date-time.ts"
import { CsException, CsLimitError } from "./errors.ts"
import { JToken } from "./json-tree.ts"
import { writeJson } from "./json-write.ts"
import { readJson } from "./library/json-read.ts"
import { budgeted } from "./run.ts"

/** What a cache keeps of an object of the library. */
export interface KeptValue {
  readonly form: "json" | "date"
  readonly text: string
}

/**
 * An object that outlives the exchange as text: JSON, or a time. Undefined for what has no such form.
 * @throws CsharpError when it is too large or nested too deeply
 */
export function keep(value: unknown): KeptValue | undefined {
  if (value instanceof DateTime) return { form: "date", text: `${value.kind} ${value.ticks}` }
  if (!(value instanceof JToken)) return undefined
  return { form: "json", text: told(() => writeJson(value, false)) }
}

/** The inverse of `keep`. @throws CsharpError for a text that `keep` did not write */
export function restore({ form, text }: KeptValue): unknown {
  if (form === "json") return told(() => readJson(text))
  const [kind, ticks] = text.split(" ")
  return new DateTime(BigInt(ticks ?? "0"), kind === "utc" || kind === "local" ? kind : "unspecified")
}

function told<Value>(run: () => Value): Value {
  try {
    return budgeted(run)
  } catch (error) {
    if (error instanceof CsException) throw new CsharpError(error.type, error.message, undefined)
    if (error instanceof CsLimitError) throw new CsharpError("limit", error.message, undefined)
    throw error
  }
}
