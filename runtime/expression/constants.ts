import { hmacAlgorithms } from "./digest-functions.ts"
import type { FindingKind } from "./finding.ts"
import { formatFault } from "./format-text.ts"
import { parseCidr, parseIpAddress } from "./ip-address.ts"
import { compileRegex } from "./regex.ts"
import type { CallNode, TreeNode } from "./syntax-tree.ts"
import { isTimeZone, parseDuration, parseTimestamp } from "./time.ts"

interface Fault {
  readonly kind: FindingKind
  readonly message: string
  readonly start: number
  readonly end: number
}

type Test = (text: string) => string | undefined

function shown(text: string): string {
  return `\`${text.length > 60 ? `${text.slice(0, 59)}…` : text}\``
}

/** Texts that are constant are checked when the expression is compiled: they would fail at every request. */
const parseTests: Readonly<Record<string, Test>> = {
  timestamp: (text) =>
    parseTimestamp(text) === undefined
      ? `${shown(text)} is not a timestamp like \`2026-01-31T08:00:00Z\``
      : undefined,
  hmac: (text) =>
    hmacAlgorithms.includes(text)
      ? undefined
      : `${shown(text)} is not an algorithm of \`hmac\`; use one of ${hmacAlgorithms.join(", ")}`,
  duration: (text) =>
    parseDuration(text) === undefined ? `${shown(text)} is not a duration like \`1h30m\`` : undefined,
  ipaddress: (text) =>
    parseIpAddress(text) === undefined ? `${shown(text)} is not an IP address` : undefined,
}

const inCidr: Test = (text) =>
  parseCidr(text) === undefined ? `${shown(text)} is not a range like \`10.0.0.0/8\`` : undefined
const timeZone: Test = (text) => (isTimeZone(text) ? undefined : `${shown(text)} is not a time zone`)

function textOf(node: TreeNode | undefined): string | undefined {
  return node?.kind === "literal" && typeof node.value === "string" ? node.value : undefined
}

/** The fault of a constant argument that its function always rejects. This makes it a compile-time finding. */
export function constantFault(node: CallNode): Fault | undefined {
  if (node.form === "method" && node.name === "format") return constantFormatFault(node.target)
  const isOfPatterns = node.namespaced?.startsWith("regex.") === true
  const isSecond = isOfPatterns || (node.form === "function" && node.name === "matches")
  const argument = isSecond ? node.args[1] : node.args[0]
  const text = textOf(argument)
  if (argument === undefined || text === undefined) return undefined
  const { start, end } = argument
  if (node.name === "matches" || isOfPatterns) {
    const regex = compileRegex(text)
    return "fault" in regex ? { kind: "regex", message: regex.fault, start, end } : undefined
  }
  const test = node.form === "function" ? parseTests[node.name] : methodTest(node.name)
  const message = node.form === "operator" ? undefined : test?.(text)
  return message === undefined ? undefined : { kind: "type", message, start, end }
}

function methodTest(name: string): Test | undefined {
  if (name === "in_cidr") return inCidr
  return name.startsWith("get") ? timeZone : undefined
}

function constantFormatFault(target: TreeNode | undefined): Fault | undefined {
  const format = textOf(target)
  const message = format === undefined ? undefined : formatFault(format)
  if (target === undefined || message === undefined) return undefined
  return { kind: "type", message, start: target.start, end: target.end }
}
