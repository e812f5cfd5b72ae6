import type { Argument } from "../ast.ts"
import type { Slot, SlotKind } from "./row.ts"

/**
 * The format of one kind of argument. `accepts` checks only the form, so that an invalid literal is reported as such and not as a wrong
 * form of the statement.
 */
export interface SlotRow {
  /** The placeholder in the syntax of a statement. */
  readonly label: string
  /** Completes "expected …". */
  readonly expected: string
  readonly accepts: (argument: Argument) => boolean
}

const isWord = (argument: Argument): boolean => argument.kind === "word"
const isText = (argument: Argument): boolean => argument.kind === "text"
const isCel = (argument: Argument): boolean => argument.kind === "cel"
const isCall = (argument: Argument): boolean => argument.kind === "call"
const isWordOrText = (argument: Argument): boolean => isWord(argument) || isText(argument)

/** How findings and syntax lines name each kind of argument, and which tokens can be one. */
export const slotKinds: { readonly [Kind in SlotKind]: SlotRow } = {
  name: { label: "NAME", expected: "a name", accepts: isWord },
  "value-name": { label: "NAME", expected: "a name", accepts: isWord },
  reference: { label: "NAME", expected: "a declared name", accepts: isWord },
  scope: { label: "NAME", expected: "a policy or a keyword", accepts: isWord },
  duration: { label: "DURATION", expected: "a duration such as `30s`", accepts: isWord },
  "duration-or-none": {
    label: "DURATION|none",
    expected: "a duration such as `30s`, or `none`",
    accepts: isWord,
  },
  size: { label: "SIZE", expected: "a size such as `10MB`", accepts: isWord },
  count: { label: "N", expected: "a whole number", accepts: isWord },
  date: { label: "DATE", expected: "a date such as `2026-06-30`", accepts: isWord },
  decimal: { label: "AMOUNT", expected: "an amount such as `0.002`", accepts: isWord },
  percentage: { label: "N%", expected: "a share such as `5%`", accepts: isWord },
  currency: { label: "CURRENCY", expected: "a currency such as `EUR`", accepts: isWord },
  address: {
    label: "ADDRESS:PORT|VALUE|env(NAME)",
    expected: "an address such as `127.0.0.1:8000`, a named value or `env(NAME)`",
    accepts: (argument) => isWordOrText(argument) || isCall(argument),
  },
  network: { label: "NETWORK", expected: "a network such as `10.0.0.0/8`", accepts: isWord },
  "network-or-range": {
    label: "NETWORK",
    expected: "a network such as `10.0.0.0/8` or a range such as `10.0.0.1-10.0.0.9`",
    accepts: isWord,
  },
  host: { label: '"HOST"', expected: "a host name in quotes", accepts: isText },
  method: { label: "METHOD", expected: "a method such as `GET`", accepts: isWord },
  quoted: { label: '"…"', expected: "a string in quotes", accepts: isText },
  status: { label: "STATUS", expected: "a status such as `404`", accepts: isWord },
  "status-or-class": {
    label: "STATUS|4xx",
    expected: "a status such as `404`, or a class such as `4xx`",
    accepts: isWord,
  },
  choice: { label: "WORD", expected: "one of the allowed words", accepts: isWord },
  data: { label: 'WORD|"…"', expected: "a word or a string", accepts: isWordOrText },
  claim: { label: "CLAIM", expected: "the name of a claim", accepts: isWordOrText },
  "limit-key": {
    label: 'subscription|ip|jwt.CLAIM|"…"',
    expected: "`subscription`, `ip`, `jwt.CLAIM` or a string in quotes",
    accepts: isWordOrText,
  },
  relation: { label: "RELATION", expected: "a relation of the model", accepts: isWord },
  url: { label: '"URL"', expected: "a URL in quotes or a named value", accepts: isWordOrText },
  "load-text": { label: '"…"', expected: "a string in quotes or a named value", accepts: isWordOrText },
  text: { label: '"…"', expected: "a string in quotes or a named value", accepts: isWordOrText },
  constant: { label: '"…"', expected: "a string in quotes", accepts: isText },
  "header-name": { label: '"HEADER"', expected: "a header name in quotes", accepts: isText },
  "query-name": {
    label: '"PARAMETER"',
    expected: "the name of a query parameter in quotes",
    accepts: isText,
  },
  path: { label: '"/PATH"', expected: "a path in quotes", accepts: isText },
  condition: { label: "(CEL)", expected: "a condition in parentheses", accepts: isCel },
  expression: { label: "(CEL)", expected: "an expression in parentheses", accepts: isCel },
  file: { label: 'file("PATH")', expected: '`file("…")`', accepts: isCall },
  outside: { label: 'env(NAME)|file("PATH")', expected: '`env(NAME)` or `file("…")`', accepts: isCall },
  equals: { label: "=", expected: "`=`", accepts: (argument) => argument.kind === "equals" },
}

/** Whether the form of an argument fits a slot. */
export function accepts({ kind, setting }: Slot, argument: Argument): boolean {
  return slotKinds[kind].accepts(argument) || (setting !== undefined && isCall(argument))
}

/** Completes "expected …" for a slot. */
export function expectedOf(slot: Slot): string {
  if (slot.kind === "reference" && slot.to !== undefined)
    return `the name of ${listed(slot.to.map(article), "or")}`
  if (slot.choices !== undefined)
    return `${slot.choices.length === 1 ? "" : "one of "}${slot.choices.map((choice) => `\`${choice}\``).join(", ")}`
  return slotKinds[slot.kind].expected
}

/** The placeholder of a slot in the syntax of a statement. */
export function labelOf(slot: Slot): string {
  if (slot.label !== undefined) return slot.label
  if (slot.choices !== undefined && slot.choices.length <= 4) return slot.choices.join("|")
  if (slot.kind === "reference" && slot.to?.length === 1) return (slot.to[0] as string).toUpperCase()
  return slotKinds[slot.kind].label
}

/** `an issuer`, `a backend`. */
export function article(noun: string): string {
  return `${/^[aeiouAO]/.test(noun) ? "an" : "a"} ${noun === "api" ? "API" : noun}`
}

/** `a, b or c`. */
export function listed(items: readonly string[], conjunction: "and" | "or"): string {
  if (items.length < 2) return items[0] ?? ""
  return `${items.slice(0, -1).join(", ")} ${conjunction} ${items.at(-1)}`
}
