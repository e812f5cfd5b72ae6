import type { Text } from "../../plan/text.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { anyText } from "./grammars.ts"
import { compileText } from "./text.ts"

/** When all texts are constant, all requests share one list. */
export function compileTexts(
  texts: readonly Text[] | undefined,
  provision: Provision,
): ((exchange: Exchange) => readonly string[]) | undefined {
  if (texts === undefined) return undefined
  const compiled = texts.map((each) => compileText(each, provision, anyText))
  const constants = compiled.map((each) => each.constant)
  if (!constants.includes(undefined)) return () => constants as string[]
  return (exchange) => compiled.map((each) => each.of(exchange))
}
