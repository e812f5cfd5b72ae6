import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Authentication, Count, Flag } from "../../runtime/plan/step-values.ts"
import type { StepId } from "../../runtime/plan/steps.ts"
import type { Expression, Text } from "../../runtime/plan/text.ts"
import { durationWords, textWords } from "../analysis/words.ts"

/** A plan's step as a statement, in structured form. `diff` and `plan` print it on one line, `policy convert` on several. */
export interface Printed {
  readonly head: string
  /** The last argument: a text that can be printed on several lines. */
  readonly text?: Text
  readonly block: readonly Printed[]
  /** The `else` after its block. */
  readonly otherwise?: Printed
}

/** What a printer of a step reads, and where it reports what it cannot express. */
export interface Printing {
  /** The plan that contains the step; undefined for a separate step. */
  readonly body: PlanBody | undefined
  /** Print the form for a section: `check jwt` for a token, not the `auth` of a scope. */
  readonly inSection: boolean
  /** The statements of the steps inside of a step. */
  inside(ids: readonly StepId[]): readonly Printed[]
  /** The name of a header for display: plans have header names in lower case. */
  header(name: string): string
  /**
   * Reports a part of the step that the language cannot express, so that the statement does not produce the same step. `what` is a noun
   * phrase.
   */
  lacks(what: string): void
  /** The same with a whole sentence. */
  refuses(why: string): void
}

/** An entry of a block: a statement, or nothing. */
export type PrintedLine = string | Printed | false | undefined | readonly PrintedLine[]

/** A statement. False and undefined entries are left out of its block. */
export function statement(head: string, ...lines: readonly PrintedLine[]): Printed {
  return { head, block: flat(lines) }
}

/** A statement with a required block, which is printed even if empty. */
export function requiredBlock(head: string, ...lines: readonly PrintedLine[]): Printed {
  const printed = statement(head, ...lines)
  return printed.block.length > 0 ? printed : { ...printed, head: `${head} { }` }
}

function flat(lines: readonly PrintedLine[]): Printed[] {
  return lines.flatMap((line): Printed[] => {
    if (line === undefined || line === false) return []
    if (typeof line === "string") return [{ head: line, block: [] }]
    return isList(line) ? flat(line) : [line]
  })
}

function isList(line: Printed | readonly PrintedLine[]): line is readonly PrintedLine[] {
  return Array.isArray(line)
}

/** A statement on one line: `limit 5 per 1m by ip { count 2 }`. */
export function oneLine({ head, text, block, otherwise }: Printed): string {
  const own = text === undefined ? head : `${head} ${textWords(text)}`
  const whole = block.length === 0 ? own : `${own} { ${block.map(oneLine).join("; ")} }`
  return otherwise === undefined ? whole : `${whole} ${oneLine(otherwise)}`
}

/** A number, or the expression that yields it per request. */
export function countText(count: Count | Flag): string {
  return typeof count === "object" ? `(${count.expression.text})` : String(count)
}

/** A number in a place where the language accepts only literals. */
export function fixedText(count: Count | undefined, what: string, printing: Printing): string {
  if (typeof count === "object") printing.lacks(`${what} that ${found(count.expression.text)}`)
  return countText(count ?? 0)
}

/** A time in seconds in a place where the language accepts only literals. */
export function fixedTime(seconds: Count, what: string, printing: Printing): string {
  if (typeof seconds === "object") printing.lacks(`${what} that ${found(seconds.expression.text)}`)
  return timeText(seconds)
}

function found(expression: string): string {
  return /^int\([A-Za-z_]\w*\)$/.test(expression)
    ? "a named value says; `--value NAME=TEXT` puts it in"
    : "is computed per request"
}

/** A time in seconds, or the expression that yields it per request. */
export function timeText(seconds: Count): string {
  if (typeof seconds === "object") return countText(seconds)
  return seconds === 0 ? "0s" : durationWords(seconds * 1000)
}

/** A time in seconds, for sentences. */
export function secondsText(seconds: Count): string {
  return typeof seconds === "number" ? `${seconds}s` : countText(seconds)
}

/** The keyword if the flag is set. The language accepts only a constant flag; `what` names it in the report. */
export function flagText(flag: Flag | undefined, word: string, printing: Printing): string | false {
  if (typeof flag !== "object") return flag === true && word
  printing.lacks(`\`${word}\` that is computed per request`)
  return `${word} ${countText(flag)}`
}

/** Texts in quotes, each with a space before it. */
export function textsOf(texts: readonly Text[]): string {
  return texts.map((text) => ` ${textWords(text)}`).join("")
}

/** A text in quotes, or an expression in parentheses. */
export function textOrExpressionText(value: Text | { readonly expression: Expression }): string {
  return typeof value === "object" && "expression" in value ? `(${value.expression.text})` : textWords(value)
}

/** `message "…"`; undefined without a message. */
export function messageText(message: Text | undefined): string | undefined {
  return message === undefined ? undefined : `message ${textWords(message)}`
}

/** `status 403`; undefined for the default. */
export function statusText(status: Count, byDefault: number, printing: Printing): string | undefined {
  return status === byDefault ? undefined : `status ${fixedText(status, "a status", printing)}`
}

/** A name as a word if possible, else as a text in quotes. */
export function wordText(name: string): string {
  return /^[A-Za-z0-9_.:/*@%+~-]+$/.test(name) ? name : textWords(name)
}

/** `authenticate token stock`: how the gateway authenticates a request. */
export function authenticationText(authentication: Authentication): string {
  switch (authentication.scheme) {
    case "basic":
      return `authenticate basic ${textWords(authentication.user)} ${textWords(authentication.password)}`
    case "bearer":
      return `authenticate bearer ${textWords(authentication.token)}`
    case "token":
      return `authenticate token ${authentication.client}`
    case "certificate":
      return `authenticate certificate ${authentication.certificate}`
  }
}

/** `errors found`, if a variable receives the errors. */
export function errorsText({ errors }: { readonly errors?: string | undefined }): string | undefined {
  return errors === undefined ? undefined : `errors ${errors}`
}
