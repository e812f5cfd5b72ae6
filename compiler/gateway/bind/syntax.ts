import type { ArgumentPattern, Form, StatementRow } from "../schema/row.ts"
import { labelOf } from "../schema/slots.ts"

/** The syntax of a statement, one line per form: `limit N per DURATION by KEY [else KEY …]`. */
export function syntaxOf(row: StatementRow, form?: Form): string[] {
  return (form === undefined ? row.forms : [form]).map((each) => {
    const block = each.block === undefined ? "" : each.blockRequired === true ? " { … }" : " [{ … }]"
    return [row.keyword, ...each.args.map(partText)].join(" ") + block
  })
}

/**
 * A part as in syntax lines: `[…]` is optional, `…` repeats, `|` separates alternatives. Alternatives that exist only to be refused are
 * left out.
 */
function partText(part: ArgumentPattern): string {
  if ("word" in part) return part.word
  if ("slot" in part) return labelOf(part)
  if ("optional" in part) return `[${part.optional.map(partText).join(" ")}]`
  if ("many" in part) {
    const each = labelOf(part.many)
    return part.between === undefined ? `${each} …` : `${each} [${part.between} ${each} …]`
  }
  const shown = part.oneOf.filter(
    ([first]) => first === undefined || !("slot" in first) || first.refused !== true,
  )
  return shown.map((alternative) => alternative.map(partText).join(" ")).join(" | ")
}
