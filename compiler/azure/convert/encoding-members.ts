import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, inside, literal } from "./cel.ts"
import { asciiOnly } from "./letter-case.ts"
import { none, shortName, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>
type Member = (node: Call, translation: Translation) => Cel

/** Bytes, Base64, percent-encoding and patterns. Returns undefined for other members. @throws NoCounterpart */
export function encodingMember(node: Call, translation: Translation): Cel | undefined {
  const found = Object.hasOwn(members, node.member) ? members[node.member] : undefined
  return found?.(node, translation)
}

const argument = (node: Call, index: number): CsNode =>
  node.args[index] ?? none(`\`${shortName(node.member)}\``)

function encodingOf({ on, member }: Call): string {
  const name = on?.k === "call" ? /^Encoding\.(\w+)$/.exec(on.member)?.[1] : undefined
  return name ?? none(`\`${shortName(member)}\``)
}

const toBytes: Member = (node, translation) => {
  const encoding = encodingOf(node)
  const text = translation.text(argument(node, 0))
  if (encoding === "UTF8") return cel(`bytes(${text.text})`, "bytes", { total: text.total })
  if (encoding !== "ASCII") return none(`\`Encoding.${encoding}\``)
  const ascii = asciiOnly(text, translation.notes)
  return cel(`bytes(${ascii.text})`, "bytes", { total: ascii.total })
}

function bytesIn(node: CsNode, translation: Translation): Cel {
  const bytes = translation.node(node)
  return bytes.kind === "bytes" ? bytes : none("bytes of an unknown kind")
}

const ofBytes: Member = (node, translation) => {
  if (encodingOf(node) !== "UTF8") return none("bytes of a text that is not UTF-8")
  const bytes = bytesIn(argument(node, 0), translation)
  translation.notes.add("bytes that are read as a text are UTF-8, else the call fails here")
  return cel(`string(${bytes.text})`, "string", { total: false })
}

const toBase64: Member = (node, translation) => {
  const bytes = bytesIn(argument(node, 0), translation)
  return cel(`base64.encode(${bytes.text})`, "string", { total: bytes.total, ascii: true })
}

/** C# accepts Base64 only with padding. */
const ofBase64: Member = (node, translation) => {
  const text = translation.text(argument(node, 0))
  translation.notes.add(
    "base64 has no white space in it, nor bits that belong to no byte, else the call fails here",
  )
  return cel(`base64.decode([${text.text}].filter(t, size(t) % 4 == 0)[0])`, "bytes", { total: false })
}

const escaped: Member = (node, translation) => {
  const text = translation.text(argument(node, 0))
  return cel(`${inside(text, binds.primary)}.percentEncode()`, "string", { total: text.total, ascii: true })
}

const unescaped: Member = (node, translation) => {
  const text = translation.text(argument(node, 0))
  translation.notes.add("percent-encoding must be complete and UTF-8, otherwise the call fails")
  return cel(`${inside(text, binds.primary)}.percentDecode()`, "string", { total: false })
}

/** A literal pattern: both languages pass it to the same engine. */
function patternOf(node: CsNode): string {
  const pattern = node.k === "const" && typeof node.value === "string" ? node.value : undefined
  // Only .NET supports quotes around group names.
  return pattern === undefined || pattern.includes("(?'")
    ? none("a pattern that is not written out")
    : pattern
}

const isMatch: Member = (node, translation) => {
  const text = translation.text(argument(node, 0))
  return cel(`${inside(text, binds.primary)}.matches(${literal(patternOf(argument(node, 1)))})`, "bool", {
    total: text.total,
  })
}

/** A pattern with one group that takes part in every match, without alternatives. Then the first match of the group is the group of the first match. */
const oneGroup = /^[^|()]*\((?:\?P?<(\w+)>)?[^()|?][^()|]*\)(?![?*{])[^|()]*$/

/** `Regex.Match(text, "a(b)").Groups[1]`, and its `Value`: empty without a match. */
const group: Member = (node, translation) => {
  const [key] = node.args
  const match = node.on?.k === "call" && node.on.member === "Match.Groups" ? node.on.on : undefined
  if (match?.k !== "call" || match.member !== "Regex.Match(string,string)" || key?.k !== "const")
    return none("a group of a match")
  const pattern = patternOf(argument(match, 1))
  const found = pattern.includes("\\(") || pattern.includes("[") ? null : oneGroup.exec(pattern)
  if (found === null || (key.value !== 1 && (found[1] === undefined || key.value !== found[1])))
    return none("a group of a match that has several, or none")
  return firstOf(match, pattern, "group", translation)
}

function firstOf(match: Call, pattern: string, kind: Cel["kind"], translation: Translation): Cel {
  const text = translation.text(argument(match, 0))
  return cel(`(regex.extractAll(${text.text}, ${literal(pattern)}) + [""])[0]`, kind, { total: text.total })
}

const groupText: Member = (node, translation) => {
  const { on } = node
  if (on?.k === "call" && on.member === "Regex.Match(string,string)") return matchText(on, translation)
  const found = on === undefined ? undefined : translation.node(on)
  return found?.kind === "group" ? { ...found, kind: "string" } : none("a group of a match")
}

/** `Regex.Match(text, "pattern").Value`: the first match, empty without a match. */
function matchText(match: Call, translation: Translation): Cel {
  const pattern = patternOf(argument(match, 1))
  return pattern.includes("(") ? none("a match with groups") : firstOf(match, pattern, "string", translation)
}

/** Both languages treat plain text and numbered groups in a replacement the same. */
const replaced: Member = (node, translation) => {
  const text = translation.text(argument(node, 0))
  const pattern = patternOf(argument(node, 1))
  const by = argument(node, 2)
  const written =
    by.k === "const" && typeof by.value === "string"
      ? by.value
      : none("a replacement that is not written out")
  const groups = pattern.replace(/\\./g, "").match(/\((?!\?)/g)?.length ?? 0
  const made = written.replaceAll("\\", "\\\\").replace(/\$(\d)(?!\d)/g, "\\$1")
  const numbers = [...written.matchAll(/\$(\d)/g)].map(([, digit]) => Number(digit))
  if (
    made.includes("$") ||
    pattern.includes("(?<") ||
    pattern.includes("[") ||
    numbers.some((each) => each > groups)
  )
    return none("`Regex.Replace` with such groups")
  return cel(`regex.replace(${text.text}, ${literal(pattern)}, ${literal(made)})`, "string", {
    total: text.total,
  })
}

/** By the id of the member in the C# library. */
const members: Readonly<Record<string, Member>> = {
  "Encoding.GetBytes(string)": toBytes,
  "Encoding.GetString(byte[])": ofBytes,
  "Convert.ToBase64String(byte[])": toBase64,
  "Convert.FromBase64String(string)": ofBase64,
  "Uri.EscapeDataString(string)": escaped,
  "Uri.UnescapeDataString(string)": unescaped,
  "Regex.IsMatch(string,string)": isMatch,
  "Regex.Replace(string,string,string)": replaced,
  "GroupCollection.this(string)": group,
  "GroupCollection.this(int)": group,
  "Group.Value": groupText,
}
