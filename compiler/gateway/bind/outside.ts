import type { Reference } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { Call, TextArgument, Word } from "../ast.ts"
import type { Slot } from "../schema/row.ts"
import { readConstant } from "./names.ts"

/** `env(NAME)`, `env(NAME, "default")` or `file("path")`. */
export function readOutside(call: Call, slot: Slot, report: Report): Reference | undefined {
  if (call.name.text === "file") return readFile(call, slot, report)
  if (call.name.text === "env") return readEnv(call, slot, report)
  const help =
    call.name.text === "secret"
      ? "Declare it: `secret NAME = env(VARIABLE)`, and use its name."
      : 'Use `env(NAME)`, `env(NAME, "default")` or `file("path")`.'
  const hint = didYouMean(call.name.text, ["env", "file"])
  report.add("SP2032", call.name.span, `\`${shown(call.name.text)}(…)\` cannot be used here${hint}`, { help })
  return undefined
}

/** `file("path")`: absolute, or relative to the working directory of the runtime. */
export function readFile(call: Call, slot: Slot, report: Report): { file: string } | undefined {
  if (call.name.text !== "file") {
    report.add("SP2032", call.name.span, `\`${shown(call.name.text)}(…)\` cannot be used here`, {
      help: 'Use `file("path")`.',
    })
    return undefined
  }
  const [path, ...more] = call.args
  if (path?.kind !== "text" || more.length > 0) {
    report.add("SP2032", call.span, "`file` takes one path in quotes", { help: 'Write `file("path")`.' })
    return undefined
  }
  const value = readConstant(path, slot, report)
  if (value === undefined) return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no intended file name has control characters.
  if (!/[\u0000-\u001f\\]/.test(value) && !value.split("/").includes("..")) return { file: value }
  report.add("SP2037", path.span, `\`${shown(value)}\` is not a valid file path`, {
    help: "Use `/` as separator. Write an absolute path, or a path relative to the working directory of the runtime.",
  })
  return undefined
}

/**
 * `env(NAME)` or `env(NAME, "default")`. The value is read by the process that runs the plan, so a plan is the same for every environment.
 */
function readEnv(call: Call, slot: Slot, report: Report): Reference | undefined {
  const [name, fallback, ...more] = call.args
  const variable = name?.kind === "word" ? name.text : undefined
  if (variable === undefined || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable) || more.length > 0) {
    const what =
      variable === undefined || more.length > 0
        ? "`env` takes the name of a variable and optionally a default in quotes"
        : `\`${shown(variable)}\` is not a valid name for an environment variable`
    report.add("SP2032", call.span, what, { help: 'Write `env(NAME)` or `env(NAME, "default")`.' })
    return undefined
  }
  if (fallback === undefined) return { env: variable }
  const text = defaultOf(fallback, slot, report)
  return text === undefined ? undefined : { env: variable, default: text }
}

/** The default is a constant: it is stored in the plan. */
function defaultOf(argument: Word | TextArgument, slot: Slot, report: Report): string | undefined {
  if (argument.kind === "word") {
    report.add("SP2032", argument.span, `the default \`${shown(argument.text)}\` is not in quotes`, {
      help: "Put the default in quotes.",
    })
    return undefined
  }
  return argument.parts.length === 0 ? "" : readConstant(argument, slot, report)
}
