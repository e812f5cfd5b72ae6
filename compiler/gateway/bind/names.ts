import { contextNames } from "../../../runtime/expression/request-context.ts"
import type { LimitKey } from "../../../runtime/plan/step-values.ts"
import type { Report } from "../../core/diagnostic.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { TextArgument, Word } from "../ast.ts"
import type { Slot } from "../schema/row.ts"
import { expectedOf } from "../schema/slots.ts"

/** Keywords that `without` can remove. No policy can have one of these names. */
export const cuttable: readonly string[] = [
  "auth",
  "limit",
  "quota",
  "require",
  "cors",
  "compress",
  "check",
  "allow",
  "deny",
  "concurrency",
  "filter",
  "grant",
  "revoke",
  "inbound",
  "outbound",
  "on-error",
  "cache",
]

/** Words of CEL's grammar (its specification, "Reserved words") and its constants: no variable can have such a name. */
const celWords: ReadonlySet<string> = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
)

/** CEL's type names, macros and libraries: a variable with such a name would be read as something else. */
const celTypes: ReadonlySet<string> = new Set(
  "base64 bool bytes cel double duration dyn int list lists map string timestamp type uint has size matches math optional regex sets strings uuid".split(
    " ",
  ),
)

/** The decision point that `authz url "…"` declares implicitly. */
export const authzPdp = "authz"

/** Prefix of the names of backends that `backend "URL"` declares implicitly. */
export const inlineBackendPrefix = "inline-"

/** A name in its declaration. */
export function readName(word: Word, { to }: Slot, report: Report): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(word.text)) {
    report.add("SP2010", word.span, `\`${shown(word.text)}\` is not a valid name`)
    return undefined
  }
  const [kind] = to ?? []
  const reserved =
    ["__proto__", "constructor", "prototype"].includes(word.text) ||
    (kind === "policy" && cuttable.includes(word.text)) ||
    (kind === "pdp" && word.text === authzPdp) ||
    ((kind === "backend" || kind === "token") && word.text.startsWith(inlineBackendPrefix))
  if (reserved) report.add("SP2013", word.span, `\`${word.text}\` is a reserved word`)
  return reserved ? undefined : word.text
}

/** Whether a name already has a meaning in expressions, so that no value, secret or variable can have it. */
export function isReservedInExpressions(name: string): boolean {
  return (
    contextNames.includes(name) ||
    celWords.has(name) ||
    celTypes.has(name) ||
    ["__proto__", "constructor", "prototype"].includes(name)
  )
}

/** The name of a value or secret. It becomes a variable of expressions. */
export function readValueName(word: Word, _slot: Slot, report: Report): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(word.text)) {
    const help =
      "Use letters, digits and `_`, starting with a letter or `_`: the name is used in expressions."
    report.add("SP2010", word.span, `\`${shown(word.text)}\` is not a valid name for a value`, { help })
    return undefined
  }
  const { text } = word
  const reserved = isReservedInExpressions(text)
  if (reserved) report.add("SP2013", word.span, `\`${text}\` is a reserved word in expressions`)
  return reserved ? undefined : text
}

/** One of the slot's fixed words. */
export function readChoice(word: Word, slot: Slot, report: Report): string | undefined {
  const choices = slot.choices ?? []
  if (choices.includes(word.text)) return word.text
  const hint = didYouMean(word.text, choices)
  report.add("SP2030", word.span, `\`${shown(word.text)}\` is not allowed here${hint}`, {
    help: `Write ${expectedOf(slot)}.`,
  })
  return undefined
}

/** The key that a limit counts by. A text is lowered with its statement. */
export function readLimitKey(word: Word | TextArgument, _slot: Slot, report: Report): LimitKey | undefined {
  if (word.kind === "text") return { by: "text", text: "" }
  if (word.text === "subscription" || word.text === "ip") return { by: word.text }
  const claim = /^jwt\.(.{1,256})$/.exec(word.text)?.[1]
  if (claim !== undefined) return { by: "claim", claim }
  const hint = didYouMean(word.text, ["subscription", "ip"])
  const help = "Count by `subscription`, `ip`, a claim such as `jwt.sub` or a string in quotes."
  report.add("SP2030", word.span, `a limit cannot count by \`${shown(word.text)}\`${hint}`, { help })
  return undefined
}

/** A literal word, or constant text. */
export function readWordOrConstant(
  argument: Word | TextArgument,
  slot: Slot,
  report: Report,
): string | undefined {
  return argument.kind === "word"
    ? shortEnough(argument.text, argument, slot, report)
    : readConstant(argument, slot, report)
}

/** Text without `${…}`. */
export function readConstant(text: TextArgument, slot: Slot, report: Report): string | undefined {
  const dynamic = text.parts.find((part) => part.kind === "cel")
  if (dynamic !== undefined) {
    report.add("SP2031", dynamic.span, "this must be a constant string", {
      help: 'Write the string without `${…}`, or name only values with constant text: `value NAME = "…"`.',
    })
    return undefined
  }
  const value = text.parts.map((part) => (part.kind === "literal" ? part.value : "")).join("")
  if (value !== "") return shortEnough(value, text, slot, report)
  report.add("SP2038", text.span, "the string is empty")
  return undefined
}

/** A length in UTF-16 units. The bounds are those of the plan's schema. */
function shortEnough(
  value: string,
  { span }: Word | TextArgument,
  { max }: Slot,
  report: Report,
): string | undefined {
  if (max === undefined || value.length <= max) return value
  report.add("SP3016", span, `the string has ${value.length} characters; the maximum is ${max}`, {
    help: "Shorten it.",
  })
  return undefined
}

/** The name of a header, in lower case. */
export function readHeaderName(text: TextArgument, slot: Slot, report: Report): string | undefined {
  const value = readConstant(text, slot, report)
  if (value === undefined || /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(value)) return value?.toLowerCase()
  report.add("SP2027", text.span, `\`${shown(value)}\` is not a valid header name`)
  return undefined
}

/** A host name, or `*.` with a host name for all names below it. In lower case. */
export function readHost(text: TextArgument, slot: Slot, report: Report): string | undefined {
  const value = readConstant(text, slot, report)?.toLowerCase()
  if (value === undefined) return undefined
  const name = value.replace(/^\*\./, "").replace(/\.$/, "")
  if (/^(?=.{1,250}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/.test(name))
    return value.startsWith("*.") ? `*.${name}` : name
  report.add("SP2024", text.span, `\`${shown(value)}\` is not a valid host name`, {
    help: 'Write a name without port, e.g. `"api.acme.example"` or `"*.acme.example"`.',
  })
  return undefined
}

/** An HTTP method, or `*`. */
export function readMethod(word: Word, _slot: Slot, report: Report): string | undefined {
  if (word.text === "*" || /^[A-Z][A-Z-]{0,63}$/.test(word.text)) return word.text
  report.add("SP2030", word.span, `\`${shown(word.text)}\` is not an HTTP method`, {
    help: "Write it in capital letters, e.g. `GET`, or `*` for any.",
  })
  return undefined
}

/** The name of a query parameter, decoded. */
export function readQueryName(text: TextArgument, slot: Slot, report: Report): string | undefined {
  const value = readConstant(text, slot, report)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused here.
  if (value === undefined || (value.length <= 128 && !/[\u0000-\u001f\u007f]/.test(value))) return value
  report.add("SP2035", text.span, `\`${shown(value)}\` is not a valid name for a query parameter`, {
    help: "Use at most 128 characters without control characters.",
  })
  return undefined
}

/** The name in `${name}`, if the source has nothing else. */
export function soleName(source: string): string | undefined {
  return /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*$/.exec(source)?.[1]
}
