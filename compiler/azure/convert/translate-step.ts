import type { HeaderLines } from "../../../runtime/plan/step-values.ts"
import type { Step, StepOf } from "../../../runtime/plan/steps.ts"
import type { CsharpExpression, Text, TextPart } from "../../../runtime/plan/text.ts"
import { asText, type Cel, isWhole, typeOf } from "./cel.ts"
import { toCel } from "./csharp-to-cel.ts"
import { wholeOf } from "./json-members.ts"
import { type Around, NoCounterpart, none } from "./translation.ts"

/** Fields of steps that contain the name of a variable. */
const variableFields: ReadonlySet<string> = new Set([
  "variable",
  "output",
  "errors",
  "retryAfterVariable",
  "remainingVariable",
  "totalVariable",
  "consumedVariable",
])

/** Texts whose expressions are checked or encoded as a whole: they stay one expression. */
const whole: ReadonlySet<string> = new Set(["url", "path", "by", "method", "name"])

/** Number of expressions, and how many of them have a counterpart. */
export interface Tally {
  expressions: number
  converted: number
}

/**
 * The step as a statement of gateway.conf creates it: expressions in CEL, variables with their names there, and unordered lists in the order
 * of the compiler.
 * @throws NoCounterpart
 */
export function translateStep(step: Step, around: Around, tally: Tally, tell: (note: string) => void): Step {
  const translation = new StepTranslation(around, tally)
  const made = translation.fields(step as unknown as Fields, step.kind)
  if (translation.failed !== undefined) throw translation.failed
  for (const note of translation.notes) tell(note)
  return ordered(made as unknown as Step, around.section)
}

type Fields = Readonly<Record<string, unknown>>

/** Translates the C# of one step. Fields are visited generically, so a new kind of step needs no code here. */
class StepTranslation {
  readonly #around: Around
  readonly #tally: Tally
  failed: unknown
  /** Cases in which a request now fails although the document would continue. */
  readonly notes = new Set<string>()

  constructor(around: Around, tally: Tally) {
    this.#around = around
    this.#tally = tally
  }

  fields(fields: Fields, kind: string): Record<string, unknown> {
    const made: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(fields)) made[key] = this.#value(value, key, kind)
    if (kind === "set-variable") this.#checkKind(String(fields["name"]), made["value"])
    if (kind === "set-variable") made["name"] = this.#around.nameOf(String(fields["name"]))
    return made
  }

  /** A field. Its name decides whether it holds a variable, a template, a text or code. */
  #value(value: unknown, key: string, kind: string): unknown {
    if (typeof value === "string" && key === "from" && kind === "respond") return this.#read(value)
    if (typeof value === "string" && key === "liquid") return this.#template(value)
    if (typeof value === "string" && variableFields.has(key)) return this.#around.nameOf(value)
    if (Array.isArray(value)) return value.map((each) => this.#value(each, key, kind))
    if (typeof value !== "object" || value === null) return value
    const own = ownCode(value, key, kind)
    if (own !== undefined) return this.#own(own, key, kind)
    if ("lang" in value) return value.lang === "cs" ? this.#code(value as CsharpExpression, key, kind) : value
    if ("text" in value && Array.isArray(value.text)) return this.#text(value as Exclude<Text, string>, key)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, this.#value(each, nameOf(name, key), kind)]),
    )
  }

  /** Every value of a variable must have the kind that was inferred for it. */
  #checkKind(name: string, value: unknown): void {
    const declared = this.#around.variable(name)?.kind
    const known = declared === "long" ? "int" : declared
    const isExpression = typeof value === "object" && value !== null && "expression" in value
    const made = isExpression ? (value.expression as { type: string }).type : "string"
    if (known === "json" && made === "dyn") return
    if (known !== undefined && known !== "dyn" && known !== made)
      this.failed ??= new NoCounterpart(`\`${name}\` holds values of several types`)
  }

  /** A template reads variables by their names in the document. */
  #template(text: string): string {
    const lost = this.#around.unreadable().find((name) => text.includes(name))
    if (lost !== undefined)
      this.failed ??= new NoCounterpart(
        `\`${lost}\`, which the template reads, has another name in gateway.conf or is not always set`,
      )
    return text
  }

  /** A variable that is read: the text must set it. */
  #read(name: string): string {
    const known = this.#around.variable(name)
    if (known === undefined) {
      this.failed ??= new NoCounterpart(
        `there is no counterpart for the variable \`${name}\`, which nothing in the text sets, or not always`,
      )
      return name
    }
    return known.name
  }

  /** All expressions are translated even after a failure, so that the count is right. */
  #cel(
    { program, text: source }: CsharpExpression,
    use: (cel: Cel, notes: Set<string>) => Cel,
    how: { late?: boolean; inText?: boolean },
  ) {
    this.#tally.expressions += 1
    const notes = new Set<string>()
    const around = how.late === true ? { ...this.#around, section: "on-error" as const } : this.#around
    try {
      const made = use(toCel(program, around, { notes, source, inText: how.inText ?? false }), notes)
      if (how.late === true && notes.size > 0) none("a value that may be missing when the request has ended")
      this.#tally.converted += 1
      for (const note of notes) this.notes.add(note)
      return made
    } catch (error) {
      this.failed ??= error
      return undefined
    }
  }

  #code(code: CsharpExpression, key: string, kind: string): unknown {
    const made = this.#cel(code, (cel, notes) => fitting(cel, key, kind, notes), { late: whenEnded.has(key) })
    return made === undefined ? code : expressionOf(made)
  }

  /** A body or value that is one expression. If it contains a secret, it becomes a text of the statement. */
  #own({ name, code }: OwnCode, key: string, kind: string): unknown {
    const use = (cel: Cel, notes: Set<string>): Cel => fitting(cel, nameOf(name, key), kind, notes)
    const made = this.#cel(code, use, { inText: true })
    if (made === undefined) return { [name]: code }
    if (made.secret === undefined && !isJoined(made)) return { [name]: expressionOf(made) }
    const text = textOf(partsOf(made, false))
    return name === "value" ? { text } : text
  }

  /** A text with expressions. An empty constant part is dropped, so that equal texts give equal plans. */
  #text({ text }: Exclude<Text, string>, key: string): Text {
    const parts = text.flatMap((part): TextPart[] => {
      if (typeof part === "string" || !("expression" in part)) return [part]
      const parameter = /^path\.(\w+)$/.exec(part.expression.text)?.[1]
      if (part.expression.lang === "cel" && parameter !== undefined) this.#around.parameter(parameter)
      if (part.expression.lang === "cel") return [part]
      const use = (cel: Cel): Cel => {
        if (cel.writes !== undefined) return none("JSON as a string that is not a body")
        return asText(cel) === undefined ? none("a value that is not a string") : cel
      }
      const made = this.#cel(part.expression, use, { inText: !whole.has(key) })
      return made === undefined ? [] : partsOf(made, whole.has(key))
    })
    return textOf(parts)
  }
}

/** The single expression of a body, or of the value of a variable. */
interface OwnCode {
  readonly name: "value" | "expression"
  readonly code: CsharpExpression
}

function ownCode(value: object, key: string, kind: string): OwnCode | undefined {
  const name = key === "content" || key === "body" ? "value" : "expression"
  if (name === "expression" && !(kind === "set-variable" && key === "value")) return undefined
  const code = (value as Fields)[name]
  const isCode = typeof code === "object" && code !== null && "lang" in code && code.lang === "cs"
  return isCode ? { name, code: code as CsharpExpression } : undefined
}

function expressionOf(made: Cel): { lang: "cel"; text: string; type: string } {
  return { lang: "cel", text: made.text, type: typeOf(made) }
}

/** Merges adjacent constants. */
function textOf(parts: readonly TextPart[]): Text {
  const made: TextPart[] = []
  for (const part of parts) {
    const last = made.at(-1)
    if (typeof part === "string" && typeof last === "string") made[made.length - 1] = last + part
    else if (part !== "") made.push(part)
  }
  const [first] = made
  if (first === undefined) return ""
  return made.length === 1 && typeof first === "string" ? first : { text: made }
}

/** The content of `{ expression }` or of a body's value has the role of the field around it. */
function nameOf(name: string, around: string): string {
  return name === "expression" || name === "text"
    ? around
    : name === "value" && (around === "content" || around === "body")
      ? "body"
      : name
}

/** Whether it is a concatenation with words on one line, which is more readable as a text. */
function isJoined({ parts = [] }: Cel): boolean {
  const words = parts.flatMap(({ constant }) => (typeof constant === "string" ? [constant] : []))
  return words.some((word) => /\S/.test(word)) && words.every((word) => !/[\r\n]/.test(word))
}

/** Fields that are evaluated after the exchange, with or without a response. */
const whenEnded: ReadonlySet<string> = new Set(["countIf", "increment"])

const truths: ReadonlySet<string> = new Set(["test", "when", "countIf", "storeIf"])

/** Checks that a value has a type that its field accepts. */
function fitting(cel: Cel, key: string, kind: string, notes: Set<string>): Cel {
  if (truths.has(key) && cel.kind !== "bool") return none("a condition that is neither true nor false")
  if (key === "body" && cel.writes !== undefined) {
    notes.add("JSON that the document writes is the same JSON here, with other white space perhaps")
    return cel.writes
  }
  if (cel.writes !== undefined) return none("JSON as a string that is not a body")
  if (key === "body" || kind === "cache-set" || kind === "cache-get") {
    // Null means no body, and in the cache it differs from an empty text.
    if (cel.present?.fails === true) {
      notes.add("a null that is sent or stored as a value: the call fails")
      return fitting(cel.present, key, kind, notes)
    }
    if (cel.nullable || cel.kind === "null") return none("a value that may be null")
    if (key === "body" && cel.kind !== "string") return none("a body that is not a string")
  }
  if (cel.kind === "json" && cel.whole === "map" && kind === "set-variable")
    return cel.nullable ? wholeOf(cel) : cel
  if (cel.kind === "jwt" && kind === "set-variable") return cel
  if (cel.absent !== undefined && cel.kind !== "string") return none("a value that may be null")
  if (numbers.has(key) && cel.kind !== "int" && cel.kind !== "dyn")
    return none(`${key} that is not a whole number`)
  const isData = ["string", "bool", "int", "long"].includes(cel.kind)
  if (!isData && cel.kind !== "dyn" && cel.kind !== "null") return none(`${kinds[cel.kind]} as a value`)
  return cel
}

const numbers: ReadonlySet<string> = new Set(["seconds", "timeoutSeconds", "status"])

/** What losses call values that a field does not accept. */
const kinds: Readonly<Record<string, string>> = {
  time: "a time",
  bytes: "bytes",
  id: "an id that is not a string",
  group: "a group of a match",
  list: "a list",
  response: "a response",
  json: "JSON",
  jwt: "a token",
  claims: "claims",
  caller: "a subscription",
}

/** The parts of a text. With `asOne` the value stays one expression, because the field takes a value and not a text. */
function partsOf(cel: Cel, asOne: boolean): TextPart[] {
  const parts = asOne ? [cel] : (cel.parts ?? [cel])
  return parts.map((part) => {
    if (part.constant === null) return ""
    if (part.secret !== undefined) return { secret: part.secret }
    if (part.named !== undefined) return { value: part.named }
    if (typeof part.constant === "string" && !asOne) return part.constant
    if (typeof part.constant === "number") return String(part.constant)
    const text = isWhole(part) ? part : (asText(part) as Cel)
    return { expression: { lang: "cel", text: text.text, type: typeOf(text) } }
  })
}

/** Sorts unordered lists like plans do, and ends a multi-line body with a line break, as texts in gateway.conf do. */
function ordered(step: Step, section: Around["section"]): Step {
  switch (step.kind) {
    case "ip-filter":
      return {
        ...step,
        networks: [...new Set(step.networks)].sort(),
        ranges: sorted(step.ranges, ({ from, to }) => `${from}-${to}`),
      }
    case "cors":
      return {
        ...step,
        methods: [...new Set(step.methods)].sort(),
        headers: headerNames(step.headers),
        expose: headerNames(step.expose),
      }
    case "quota":
      return step.startsAt === undefined ? step : { ...step, startsAt: step.startsAt.replace(".000Z", "Z") }
    case "validate-jwt":
      return { ...step, claims: step.claims.map((rule) => ({ ...rule, values: sorted(rule.values, keyOf) })) }
    case "respond":
      return { ...withBody(step), headers: begun(step.headers, step.from === undefined) }
    case "send-request":
      return { ...withBody(step), headers: begun(step.headers, step.mode === "new") }
    case "set-body":
      return { ...step, content: ended(step.content) }
    case "validate-headers":
      return step.named === undefined
        ? step
        : { ...step, named: sorted(step.named, ({ action }) => actions.indexOf(action).toString()) }
    case "validate-status":
      return { ...step, codes: sorted(step.codes, ({ action }) => actions.indexOf(action).toString()) }
    case "metric":
      return typeof step.value === "number" && step.value !== 1
        ? { ...step, value: amount(step.value) }
        : step
    case "trace":
      return { ...step, source: section === "inbound" || section === "backend" ? "request" : "response" }
    default:
      return step
  }
}

function amount(value: number): { expression: { lang: "cel"; text: string; type: string } } {
  return { expression: { lang: "cel", text: String(value), type: "double" } }
}

function headerNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))].sort()
}

const actions = ["ignore", "detect", "prevent"]

function withBody<Made extends StepOf<"respond"> | StepOf<"send-request">>(step: Made): Made {
  return step.body === undefined ? step : { ...step, body: ended(step.body) }
}

/** In a message that starts without headers, every line acts like `set`. */
function begun(lines: HeaderLines, fresh: boolean): HeaderLines {
  if (!fresh) return lines
  return lines.flatMap((line) => (line.action === "remove" ? [] : [{ ...line, action: "set" as const }]))
}

/** A body of several lines is written as a heredoc, which ends with a newline, so the compared step ends with one too. */
function ended<Body extends object>(body: Body): Body {
  if (!("text" in body)) return body
  const text = body.text as Text
  const parts = typeof text === "string" ? [text] : text.text
  const isLong = parts.some((part) => typeof part === "string" && /\n./s.test(part) && !part.includes("\r"))
  const last = parts.at(-1)
  if (!isLong || (typeof last === "string" && last.endsWith("\n"))) return body
  const all = typeof last === "string" ? [...parts.slice(0, -1), `${last}\n`] : [...parts, "\n"]
  return { ...body, text: all.length === 1 ? all[0] : { text: all } }
}

function sorted<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return [...items].sort((a, b) => (key(a) === key(b) ? 0 : key(a) < key(b) ? -1 : 1))
}

const keyOf = (value: Text): string => (typeof value === "string" ? value : JSON.stringify(value))
