import { compareBytes } from "#platform"
import { readListenAddress } from "../../../runtime/plan/listen-address.ts"
import { bytesOf, printAddress, readNetworkText } from "../../../runtime/plan/network.ts"
import type { Address } from "../../../runtime/plan/resources.ts"
import type { Reference } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { Call, TextArgument, Word } from "../ast.ts"
import type { Slot } from "../schema/row.ts"
import { readOutside } from "./outside.ts"

/** What `listen` accepts in place of an address that is written out. It is read when all declarations are known. */
export type AddressSource = Word | TextArgument | Reference

const addressHelp = "Write address and port, e.g. `127.0.0.1:8000`, `[::1]:8000`, `0.0.0.0:8000`."

/** An address, the name of a value, a text with values, or `env(NAME)`. */
export function readAddress(
  argument: Word | TextArgument | Call,
  slot: Slot,
  report: Report,
): Address | AddressSource | undefined {
  if (argument.kind === "call") return readVariable(argument, slot, report)
  return argument.kind === "text" || namesAddress(argument)
    ? argument
    : addressOf(argument.text, argument.span, report)
}

/** Whether a word is the name of a value, and not a host without its port. */
export function namesAddress({ text }: Word): boolean {
  return text !== "localhost" && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(text)
}

/** The address of a text that is known now; undefined when it is invalid (reported). */
export function addressOf(text: string, span: Span, report: Report): Address | undefined {
  const found = readListenAddress(text)
  if (!("problem" in found)) return found
  report.add("SP2024", span, `\`${shown(text)}\` ${found.problem}`, { help: addressHelp })
  return undefined
}

/** `env(NAME)`, of which a default must be an address. */
function readVariable(call: Call, slot: Slot, report: Report): Reference | undefined {
  if (call.name.text !== "env") {
    report.add("SP2032", call.name.span, `\`${shown(call.name.text)}(…)\` cannot be used here`, {
      help: "Use `env(NAME)`, or declare a `value` and write its name.",
    })
    return undefined
  }
  const found = readOutside(call, slot, report)
  if (found === undefined || !("default" in found) || found.default === undefined) return found
  return addressOf(found.default, call.span, report) === undefined ? undefined : found
}

/** A network in CIDR notation, in its shortest spelling. A single address gets its full prefix length. */
export function readNetwork(word: Word, _slot: Slot, report: Report): string | undefined {
  const network = readNetworkText(word.text)
  if (typeof network === "string") return network
  report.add("SP2025", word.span, `\`${shown(word.text)}\` ${network.problem}`, {
    help:
      network.meant === undefined
        ? "Write a network such as `10.0.0.0/8` or `fd00::/8`, or one address."
        : `Did you mean \`${network.meant}\`?`,
  })
  return undefined
}

/** A network, or a range of addresses. */
export function readNetworkOrRange(
  word: Word,
  slot: Slot,
  report: Report,
): string | { from: string; to: string } | undefined {
  const [from, to, ...more] = word.text.split("-")
  if (to === undefined) return readNetwork(word, slot, report)
  const [low, high] = [bytesOf(from ?? ""), bytesOf(to)]
  const fits =
    low !== undefined &&
    high !== undefined &&
    more.length === 0 &&
    low.length === high.length &&
    compareBytes(Uint8Array.from(low), Uint8Array.from(high)) <= 0
  if (fits) return { from: printAddress(low), to: printAddress(high) }
  report.add("SP2025", word.span, `\`${shown(word.text)}\` is not a range of addresses`, {
    help: "Write the lower address, `-` and the higher one, e.g. `192.0.2.10-192.0.2.20`.",
  })
  return undefined
}
