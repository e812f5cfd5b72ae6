import { breaking, closes, neutral, opens } from "../../analysis/finding.ts"
import { readByBrowsers } from "../../analysis/message-rules.ts"
import { headSpan } from "../bind/bound.ts"
import { mayWrite, messageAt } from "../lower/header.ts"
import type { LowerStep } from "../lower/step.ts"
import { statement } from "../print.ts"
import { type Form, slot, word } from "../schema/row.ts"
import { namedIdentities, type StepText } from "../step-text.ts"

/** `header rename "A" to "B"` */
export const renameForm: Form = {
  args: [word("rename"), slot("name", "header-name"), word("to"), slot("to", "header-name")],
}

/** Lowers the form. */
export const lowerRename: LowerStep = (bound, { place, report, steps }) => {
  const message = messageAt(place)
  const nameIn = (slot: string): string | undefined => {
    const name = bound.args.value<string>(slot)
    const at = bound.args.get(slot)?.argument.span
    return name !== undefined && at !== undefined && mayWrite(name, at, message, report) ? name : undefined
  }
  const [from, to] = [nameIn("name"), nameIn("to")]
  if (from === undefined || to === undefined) return undefined
  return steps.add({ kind: "rename-header", message, from, to }, headSpan(bound.statement))
}

/** Printing and comparison of a step that renames a header. */
export const renameHeader: StepText<"rename-header"> = {
  print: ({ from, to }, printing) =>
    statement(`header rename "${printing.header(from)}" to "${printing.header(to)}"`),
  identities: ({ message, from }) => namedIdentities(`header ${message}`, from, "rename"),
  added: ({ message, from, to }) =>
    message === "request"
      ? [
          opens(`callers control \`${to}\` at the backend through \`${from}\``),
          closes(`the backend no longer gets the caller's \`${from}\``),
        ]
      : [breaking(`callers get \`${from}\` as \`${to}\``), ...readByBrowsers(to, `\`${to}\``)],
  removed: ({ message, from, to }) =>
    message === "request"
      ? opens(`the caller's own \`${from}\` and \`${to}\` reach the backend`)
      : [breaking(`callers get \`${from}\` under its own name`), ...readByBrowsers(to, `\`${to}\``)],
  changed: {
    message: (_, after) => opens(`it now applies to the ${after}`),
    from: (before, after, items) =>
      items.after.message === "request"
        ? opens(`the value for the backend comes from \`${after}\` of the caller instead of \`${before}\``)
        : breaking(`callers get \`${after}\` under another name, not \`${before}\``),
    to: (before, after, items) =>
      items.after.message === "request"
        ? opens(`callers control \`${after}\` at the backend instead of \`${before}\``)
        : [
            neutral(`callers get it as \`${after}\`, not as \`${before}\``),
            ...readByBrowsers(after, `\`${after}\``),
          ],
  },
}
