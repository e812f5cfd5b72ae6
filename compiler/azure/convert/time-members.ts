import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, compared, inside, isWhole, literal } from "./cel.ts"
import { none, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>
type Member = (node: Call, translation: Translation) => Cel

/** The current time and new ids. Returns undefined for other members. @throws NoCounterpart */
export function timeMember(node: Call, translation: Translation): Cel | undefined {
  const found = Object.hasOwn(members, node.member) ? members[node.member] : undefined
  if (found !== undefined) return found(node, translation)
  const [, type, name] = /^(DateTime|DateTimeOffset)\.(\w+)\(/.exec(node.member) ?? []
  if (type === undefined || name === undefined) return undefined
  const order = Object.hasOwn(orders, name) ? orders[name] : undefined
  if (order !== undefined)
    return compared(timeIn(node.args[0], translation), order, timeIn(node.args[1], translation))
  const unit = Object.hasOwn(units, name) ? units[name] : undefined
  return unit === undefined ? undefined : later(node, unit, translation)
}

const orders: Readonly<Record<string, string>> = {
  op_LessThan: "<",
  op_LessThanOrEqual: "<=",
  op_GreaterThan: ">",
  op_GreaterThanOrEqual: ">=",
}

interface Unit {
  readonly seconds: number
  /** The CEL equivalent: a factor and a unit. */
  readonly of: readonly [number, "s" | "m" | "h"]
}

const units: Readonly<Record<string, Unit>> = {
  AddSeconds: { seconds: 1, of: [1, "s"] },
  AddMinutes: { seconds: 60, of: [1, "m"] },
  AddHours: { seconds: 3_600, of: [1, "h"] },
  AddDays: { seconds: 86_400, of: [24, "h"] },
}

function timeIn(node: CsNode | undefined, translation: Translation): Cel {
  const time = node === undefined ? undefined : translation.node(node)
  return time?.kind === "time" ? time : none("a time that may be null")
}

/** C# reads the clock once for each occurrence in the source, so this text must read it equally often. */
const now: Member = (node, { fresh }) => {
  fresh.add(node)
  return cel("now", "time")
}

/** A hundred years: both languages can add it to any current time. */
const secondsMax = 3_155_760_000

/**
 * A time that is moved by a number of days, hours, minutes or seconds. A number that is not constant can only be seconds: the duration is
 * made from its text.
 */
function later(node: Call, { seconds: unit, of: [many, letter] }: Unit, translation: Translation): Cel {
  const from = timeIn(node.on, translation)
  const [argument] = node.args
  const count = argument?.k === "convert" && argument.to === "double" ? argument.on : argument
  if (count === undefined) return none("a time that may be null")
  const fixed = count.k === "const" && typeof count.value === "number" ? count.value : undefined
  if (fixed !== undefined && Number.isInteger(fixed) && Math.abs(fixed * unit) <= secondsMax)
    return moved(from, `duration(${literal(`${fixed * many}${letter}`)})`, from.total)
  const seconds = translation.node(count)
  if (unit !== 1 || seconds.kind !== "int") return none("a time that is not moved by whole seconds")
  return moved(from, `duration(string(${seconds.text}) + "s")`, false)
}

function moved(from: Cel, by: string, total: boolean): Cel {
  return cel(`${inside(from, binds.sum)} + ${by}`, "time", { binds: binds.sum, total })
}

const seconds: Member = (node, translation) => {
  const time = timeIn(node.on, translation)
  return cel(`int(${time.text})`, "long", { total: time.total, exact: true })
}

const milliseconds: Member = (node, translation) => {
  const time = timeIn(node.on, translation)
  const text = `(${inside(time, binds.sum)} - timestamp(0)).getMilliseconds()`
  // A CEL duration is limited to about 292 years.
  translation.notes.add(far)
  return cel(text, "long", { total: false, exact: true })
}

const far = "times must be between 1678 and 2262, otherwise the call fails"

/** Milliseconds since 1970. Far numbers fail in CEL, which is noted. */
const ofMilliseconds: Member = (node, translation) => {
  const count = translation.node(node.args[0] ?? none("a time"))
  if (!isWhole(count)) return none("a time that is not a whole number")
  translation.notes.add(far)
  return cel(`timestamp(0) + duration(string(${count.text}) + "ms")`, "time", {
    binds: binds.sum,
    total: false,
  })
}

const ofSeconds: Member = (node, translation) => {
  const count = translation.node(node.args[0] ?? none("a time"))
  if (!isWhole(count)) return none("a time that is not a whole number")
  return cel(`timestamp(${count.text})`, "time", { total: false })
}

/** The part around the seconds of RFC 3339, by format. */
const formats: Readonly<Record<string, (text: string) => string>> = {
  "yyyy-MM-ddTHH:mm:ssZ": (text) => text,
  "yyyy-MM-ddTHH:mm:ss'Z'": (text) => text,
  "yyyy-MM-dd'T'HH:mm:ss'Z'": (text) => text,
  u: (text) => `${text}.replace("T", " ")`,
  "yyyy-MM-dd": (text) => `${text}.substring(0, 10)`,
}

const written: Member = (node, translation) => {
  const time = timeIn(node.on, translation)
  const [format] = node.args
  const key = format?.k === "const" && typeof format.value === "string" ? format.value : ""
  const made = Object.hasOwn(formats, key) ? formats[key] : undefined
  if (made === undefined) return none(`a time written as \`${key}\``)
  return cel(made(`string(timestamp(int(${time.text})))`), "string", { total: time.total, ascii: true })
}

const id: Member = (node, { fresh }) => {
  fresh.add(node)
  return cel("uuid()", "id")
}

const idText: Member = (node, translation) => {
  const made = node.on === undefined ? undefined : translation.node(node.on)
  const [format] = node.args
  const key = format?.k === "const" && typeof format.value === "string" ? format.value : ""
  if (made?.kind !== "id" || !["", "D", "d", "N", "n"].includes(key)) return none("`Guid.ToString`")
  const text = key.toUpperCase() === "N" ? `${made.text}.replace("-", "")` : made.text
  return cel(text, "string", { ascii: true })
}

/** By the id of the member in the C# library. */
const members: Readonly<Record<string, Member>> = {
  "DateTime.UtcNow": now,
  "DateTime.Now": now,
  "DateTimeOffset.UtcNow": now,
  "DateTimeOffset.Now": now,
  "IProxyContext.Timestamp": () => cel("request.time", "time"),
  "DateTimeOffset.ToUnixTimeSeconds()": seconds,
  "DateTimeOffset.FromUnixTimeSeconds(long)": ofSeconds,
  "DateTimeOffset.ToUnixTimeMilliseconds()": milliseconds,
  "DateTimeOffset.FromUnixTimeMilliseconds(long)": ofMilliseconds,
  "DateTimeOffset.new(DateTime)": (node, translation) => timeIn(node.args[0], translation),
  "DateTime.ToString(string)": written,
  "DateTimeOffset.ToString(string)": written,
  "Guid.NewGuid()": id,
  "Guid.ToString(string)": idText,
}
