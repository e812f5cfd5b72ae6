import type { CsNode } from "../../../runtime/plan/csharp.ts"
import {
  asText,
  binds,
  type Cel,
  cel,
  compared,
  constant,
  type Folding,
  inside,
  isWhole,
  literal,
  within32,
} from "./cel.ts"
import { asciiOnly, type Extent, isInOneCase, matching, sameInAnyCase } from "./letter-case.ts"
import { none, refuse, shortName, type Translation, texts } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>

/** Methods of strings and lists, including static ones. Returns undefined for other members. @throws NoCounterpart */
export function textMember(node: Call, translation: Translation): Cel | undefined {
  const found = Object.hasOwn(methods, node.member) ? methods[node.member] : undefined
  return found?.(node, translation)
}

type Method = (node: Call, translation: Translation) => Cel

const target = (node: Call): CsNode => node.on ?? none(`\`${shortName(node.member)}\``)
const argument = (node: Call, index: number): CsNode =>
  node.args[index] ?? none(`\`${shortName(node.member)}\``)

/** Whether a comparison type ignores case. Undefined for unsupported ones. */
function ignoresCase(comparison: CsNode | undefined): boolean | undefined {
  if (comparison === undefined) return false
  const found =
    comparison.k === "call"
      ? /(?:^|\.)(?:Ordinal|InvariantCulture|CurrentCulture)(IgnoreCase)?$/.exec(comparison.member)
      : null
  return found === null ? undefined : found[1] !== undefined
}

/** Converts to upper case, as case-insensitive comparisons in .NET do. */
function inUpperCase(value: Cel): Cel {
  return typeof value.constant === "string" ? constant(value.constant.toUpperCase()) : value
}

/** `text.name(text)`, with an optional comparison type. */
function asking(name: string, extent: Extent): Method {
  return (node, translation) => {
    const on = translation.special(target(node))
    const sought = translation.text(argument(node, 0))
    const isCaseless = ignoresCase(node.args[1])
    if (isCaseless === undefined) return none("a comparison by another culture")
    if (on.folded !== undefined && !isCaseless && typeof sought.constant === "string")
      return matching(on.folded.of, on.folded.by, sought, { extent, notes: translation.notes })
    const text = translation.text(target(node))
    if (
      isCaseless &&
      !(typeof sought.constant === "string" && !/[a-z]/i.test(sought.constant) && sought.ascii === true)
    )
      return matching(text, "upper", inUpperCase(sought), { extent, notes: translation.notes })
    return cel(`${inside(text, binds.primary)}.${name}(${sought.text})`, "bool", {
      total: text.total && sought.total,
    })
  }
}

function inCase(name: string, by: Folding): Method {
  return (node, translation) => {
    const on = translation.text(target(node))
    if (on.ascii !== true) return { ...cel("", "string", { total: on.total }), folded: { of: on, by } }
    return cel(`${inside(on, binds.primary)}.${name}()`, "string", { total: on.total, ascii: true })
  }
}

const equal: Method = (node, translation) =>
  equals(target(node), argument(node, 0), node.args[1], translation)

const staticEqual: Method = (node, translation) =>
  equals(argument(node, 0), argument(node, 1), node.args[2], translation)

/** `string.Equals`. CEL has no null, so a comparison needs a constant text on one side if a side may be null. */
function equals(a: CsNode, b: CsNode, comparison: CsNode | undefined, translation: Translation): Cel {
  const isCaseless = ignoresCase(comparison)
  if (isCaseless === undefined) return none("a comparison by another culture")
  const [left, right] = [translation.special(a), translation.special(b)]
  if (isInOneCase(left, right)) return sameInAnyCase(left, right, translation.notes)
  const [on, other] = [translation.node(a), translation.node(b)]
  if (on.kind !== "string" || other.kind !== "string")
    return none("`string.Equals` of a value that is not a string")
  const constants = [on, other].filter((side) => typeof side.constant === "string" && side.constant !== "")
  if ((on.nullable || other.nullable) && constants.length === 0)
    return none("`string.Equals` of a value that may be null")
  if (!isCaseless) return compared(on, "==", other)
  if (on.ascii !== true || other.ascii !== true || (constants.length > 0 && on.constant !== other.constant)) {
    const wanted = typeof on.constant === "string" ? on : other
    return matching(wanted === on ? other : on, "upper", inUpperCase(wanted), {
      extent: "all",
      notes: translation.notes,
    })
  }
  return compared(
    cel(`${inside(on, binds.primary)}.lowerAscii()`, "string", { total: on.total }),
    "==",
    cel(`${inside(other, binds.primary)}.lowerAscii()`, "string", { total: other.total }),
  )
}

const isEmpty: Method = (node, translation) => {
  const value = translation.node(argument(node, 0))
  if (value.kind !== "string") return none("`string.IsNullOrEmpty` of a value that is not a string")
  return cel(`${inside(value, binds.sum)} == ""`, "bool", { binds: binds.relation, total: value.total })
}

const isBlank: Method = (node, translation) => {
  const value = translation.node(argument(node, 0))
  if (value.kind !== "string") return none("`string.IsNullOrWhiteSpace` of a value that is not a string")
  return compared(trimmed(value), "==", constant(""))
}

function trimmed(text: Cel): Cel {
  return cel(`${inside(text, binds.primary)}.trim()`, "string", {
    total: text.total,
    ...(text.ascii === true ? { ascii: true } : {}),
  })
}

/** Both languages remove the White_Space characters of Unicode. */
const trim: Method = (node, translation) => {
  const [characters] = node.args
  if (characters !== undefined && !(characters.k === "array" && characters.items.length === 0))
    return none("`string.Trim` of other characters than white space")
  return trimmed(translation.text(target(node)))
}

const length: Method = (node, translation) => {
  const on = translation.text(target(node))
  if (on.ascii === true) return cel(`size(${on.text})`, "int", { total: on.total })
  return { ...cel("", "int", { total: on.total }), measured: on }
}

/** `Substring` counts UTF-16 units, CEL counts code points: the text must be ASCII, which is noted. */
const substring: Method = (node, translation) => {
  const on = asciiOnly(translation.text(target(node)), translation.notes)
  const from = translation.node(argument(node, 0))
  if (from.kind !== "int") return none("`string.Substring` with a value that is not a whole number")
  const [, count] = node.args
  if (count === undefined) return cut(on, from.text)
  const size = translation.node(count)
  if (typeof from.constant !== "number" || typeof size.constant !== "number" || size.constant < 0)
    return none("`string.Substring` with a length that is not constant")
  return cut(on, `${from.text}, ${from.constant + size.constant}`)
}

function cut(on: Cel, by: string): Cel {
  return cel(`${inside(on, binds.primary)}.substring(${by})`, "string", { total: false, ascii: true })
}

function position(name: string): Method {
  return (node, translation) => {
    const on = asciiOnly(translation.text(target(node)), translation.notes)
    const sought = translation.text(argument(node, 0))
    return cel(`${inside(on, binds.primary)}.${name}(${sought.text})`, "int", { total: false })
  }
}

/** `list[number]`, for lists that exist in CEL too. */
const item: Method = (node, translation) => {
  const list = listOf(target(node), translation)
  const index = translation.node(argument(node, 0))
  if (typeof index.constant !== "number") return none("an item of a list")
  return cel(`${list.text}[${index.text}]`, "string", { total: false })
}

function listOf(node: CsNode, translation: Translation): Cel {
  const list = translation.node(node)
  return list.kind === "list" && list.absent === undefined ? list : none("an item of a list")
}

/** A header or parameter that exists has at least one value. */
const first: Method = (node, translation) =>
  cel(`${listOf(target(node), translation).text}[0]`, "string", { total: false })

const last: Method = (node, translation) => {
  const { text } = listOf(target(node), translation)
  return cel(`${text}[size(${text}) - 1]`, "string", { total: false })
}

/** An empty list means a missing header, which has no value. */
const join: Method = (node, translation) => {
  const by = translation.text(argument(node, 0))
  const { text } = listOf(argument(node, 1), translation)
  return cel(`size(${text}) > 0 ? ${text}.join(${by.text}) : ${text}[0]`, "string", {
    binds: binds.choice,
    total: false,
  })
}

/** `text in list`. */
const isIn: Method = (node, translation) => {
  const list = target(node)
  if (list.k !== "array") return isInFound(translation.node(list), translation.text(argument(node, 0)))
  const { items } = list
  const sought = translation.node(argument(node, 0))
  const constants = items.map((each) => translation.node(each).constant)
  if (sought.kind !== "string" || !constants.every((each) => typeof each === "string"))
    return none("a search in a list that is not constant")
  if (sought.nullable && constants.includes("")) return none("a search for a string that may be null")
  const written = constants.map((each) => literal(String(each))).join(", ")
  return cel(`${inside(sought, binds.sum)} in [${written}]`, "bool", {
    binds: binds.relation,
    total: sought.total,
  })
}

function isInFound(list: Cel, sought: Cel): Cel {
  if (list.kind !== "list" || list.sure !== true) return none("a search in a list that is not constant")
  return cel(`${inside(sought, binds.sum)} in ${list.text}`, "bool", { binds: binds.relation, total: false })
}

/** Splitting by one string gives the same parts in both languages. */
const split: Method = (node, translation) => {
  const on = translation.text(target(node))
  const by = argument(node, 0)
  const [only, ...more] = by.k === "array" ? by.items : [by]
  if (only?.k !== "const" || typeof only.value !== "string" || only.value === "" || more.length > 0)
    return none("`string.Split` by several strings")
  return cel(`${inside(on, binds.primary)}.split(${literal(only.value)})`, "list", { total: false })
}

/** A number within 32 bits, written in digits. */
const parsed: Method = (node, translation) => {
  const text = translation.text(argument(node, 0))
  translation.notes.add(
    "a string that is read as a number must contain only digits, otherwise the call fails",
  )
  return cel(within32(`int(${text.text})`), "int", { total: false })
}

const parsedLong: Method = (node, translation) => {
  const text = translation.text(argument(node, 0))
  translation.notes.add(
    "a string that is read as a number must contain only digits, otherwise the call fails",
  )
  return cel(`int(${text.text})`, "long", { total: false })
}

/** `Replace` of a constant: an empty one throws in C#. */
const replace: Method = (node, translation) => {
  const on = translation.text(target(node))
  const from = translation.node(argument(node, 0))
  const to = translation.text(argument(node, 1))
  if (typeof from.constant !== "string" || from.constant === "")
    return none("`string.Replace` of a string that is not constant")
  return cel(`${inside(on, binds.primary)}.replace(${from.text}, ${to.text})`, "string", {
    total: on.total && to.total,
  })
}

const basic: Method = () =>
  refuse("passwords are checked by `auth basic NAME` with the users of `users NAME`")

const concat: Method = (node, translation) => {
  const [only] = node.args
  return texts(only?.k === "array" ? only.items : node.args, translation)
}

/** The string itself. */
const itself: Method = (node, translation) => translation.text(target(node))

const number: Method = (node, translation) => {
  const value = translation.node(target(node))
  if (!isWhole(value)) return none("`int.ToString` of something else")
  return cel(`string(${value.text})`, "string", { total: value.total, ascii: true })
}

/** A variable of unknown type, which must be a string. */
const anyText: Method = (node, translation) => {
  const value = translation.node(target(node))
  if (value.kind === "dyn") {
    translation.notes.add(
      "a variable of unknown type must be a string where a string is expected, otherwise the call fails",
    )
    return cel(`"" + ${inside(value, binds.unary)}`, "string", { binds: binds.sum, total: false })
  }
  const text = value.nullable ? undefined : asText(value)
  return text ?? none("`object.ToString`")
}

/** By the id of the member in the C# library. */
const methods: Readonly<Record<string, Method>> = {
  "string.Contains(string)": asking("contains", "part"),
  "string.Contains(char)": asking("contains", "part"),
  "string.Contains(string,StringComparison)": asking("contains", "part"),
  "string.StartsWith(string)": asking("startsWith", "start"),
  "string.StartsWith(char)": asking("startsWith", "start"),
  "string.StartsWith(string,StringComparison)": asking("startsWith", "start"),
  "string.EndsWith(string)": asking("endsWith", "end"),
  "string.EndsWith(char)": asking("endsWith", "end"),
  "string.EndsWith(string,StringComparison)": asking("endsWith", "end"),
  "string.ToLower()": inCase("lowerAscii", "lower"),
  "string.ToLowerInvariant()": inCase("lowerAscii", "lower"),
  "string.ToUpper()": inCase("upperAscii", "upper"),
  "string.ToUpperInvariant()": inCase("upperAscii", "upper"),
  "string.AsBasic()": basic,
  "string.Empty": () => constant(""),
  "string.Length": length,
  "string.Substring(int)": substring,
  "string.Substring(int,int)": substring,
  "string.IndexOf(string)": position("indexOf"),
  "string.IndexOf(char)": position("indexOf"),
  "string.LastIndexOf(string)": position("lastIndexOf"),
  "string.LastIndexOf(char)": position("lastIndexOf"),
  "string.Trim(params char[])": trim,
  "string.Trim()": trim,
  "string.IsNullOrWhiteSpace(string)": isBlank,
  "string.Join(string,params string[])": join,
  "string.Equals(string,string)": staticEqual,
  "string.Equals(string,string,StringComparison)": staticEqual,
  "string.Split(params string[])": split,
  "int.Parse(string)": parsed,
  "long.Parse(string)": parsedLong,
  "long.ToString()": number,
  "object.ToString()": anyText,
  "IList.Contains(T)": isIn,
  "IEnumerable.Last()": last,
  "IEnumerable.LastOrDefault()": last,
  "string.Equals(string)": equal,
  "string.Equals(string,StringComparison)": equal,
  "string.IsNullOrEmpty(string)": isEmpty,
  "string.Concat(params object[])": concat,
  "string.Concat(params string[])": concat,
  "string.Replace(string,string)": replace,
  "string.Replace(char,char)": replace,
  "string.Split(params char[])": split,
  "string.ToString()": itself,
  "int.ToString()": number,
  "[].this(int)": item,
  "IEnumerable.First()": first,
  "IEnumerable.FirstOrDefault()": first,
}
