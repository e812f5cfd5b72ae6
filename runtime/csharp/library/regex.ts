import { RE2JS } from "re2js"
import { type CsEnum, CsList } from "../collections.ts"
import { argument, argumentNull } from "../errors.ts"
import { compilePattern, expandReplacement } from "../pattern.ts"
import { charge, chargeItems, chargeText, searching } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { declareEnum } from "./object.ts"

const cacheSizeMax = 200
const cache = new Map<string, RE2JS>()

/** The pattern, made once. */
function compile(pattern: string | null, options: CsEnum | null): RE2JS {
  if (pattern === null) throw argumentNull("pattern")
  const flags =
    (options?.has("IgnoreCase") === true ? RE2JS.CASE_INSENSITIVE : 0) |
    (options?.has("Multiline") === true ? RE2JS.MULTILINE : 0) |
    (options?.has("Singleline") === true ? RE2JS.DOTALL : 0)
  const key = `${flags}:${pattern}`
  const known = cache.get(key)
  if (known !== undefined) return known
  charge(pattern.length * 10)
  const made = compilePattern(pattern, flags)
  if (typeof made === "string") throw argument(`Invalid pattern '${pattern.slice(0, 100)}': ${made}`)
  if (cache.size >= cacheSizeMax) cache.delete(cache.keys().next().value as string)
  cache.set(key, made)
  return made
}

/** One group of a match; the whole match is group 0. */
class Group extends CsObject {
  readonly typeName: string = "System.Text.RegularExpressions.Group"
  readonly value: string
  readonly index: number
  readonly success: boolean
  constructor(value: string | null, index: number) {
    super()
    this.success = value !== null
    this.value = value ?? ""
    this.index = this.success ? index : 0
  }
  override text(): string {
    return this.value
  }
}

class Match extends Group {
  override readonly typeName = "System.Text.RegularExpressions.Match"
  readonly groups: readonly Group[]
  readonly names: ReadonlyMap<string, number>
  readonly rest: () => Match
  constructor(groups: readonly Group[], names: ReadonlyMap<string, number>, rest: () => Match) {
    super(groups[0]?.success === true ? groups[0].value : null, groups[0]?.index ?? 0)
    this.groups = groups
    this.names = names
    this.rest = rest
  }
  known(name: string): Group | undefined {
    return this.groups[this.names.get(name) ?? (/^\d+$/.test(name) ? Number(name) : -1)]
  }
  named(name: string): Group {
    return this.known(name) ?? new Group(null, 0)
  }
}

class Groups extends CsObject {
  readonly typeName = "System.Text.RegularExpressions.GroupCollection"
  readonly match: Match
  constructor(match: Match) {
    super()
    this.match = match
  }
  override elements(): readonly unknown[] {
    return this.match.groups
  }
}

/**
 * A search costs what it went through, text times program as in the worst case of the automaton, and a little of the rest: some patterns
 * look at all of it before each match.
 */
function pay(regex: RE2JS, passed: number, rest: number): void {
  charge(2 + Math.ceil(((passed + (rest >>> 10)) * regex.programSize()) / 16))
}

const noMatch = new Match([], new Map(), () => noMatch)

function matchFrom(regex: RE2JS, text: string, from: number): Match {
  if (from > text.length) return noMatch
  const matcher = regex.matcher(text)
  const rest = text.length - from
  const isFound = searching(() => matcher.find(from))
  pay(regex, isFound ? matcher.end() - from : rest, rest)
  if (!isFound) return noMatch
  const groups = Array.from(
    { length: matcher.groupCount() + 1 },
    (_, index) => new Group(matcher.group(index), matcher.start(index)),
  )
  const end = matcher.end()
  const names = new Map(Object.entries(regex.namedGroups()).map(([name, index]) => [name, Number(index)]))
  return new Match(groups, names, () => matchFrom(regex, text, end > (groups[0]?.index ?? 0) ? end : end + 1))
}

function allMatches(regex: RE2JS, text: string): Match[] {
  const found: Match[] = []
  for (let match = matchFrom(regex, text, 0); match.success; match = match.rest()) {
    chargeItems(1)
    found.push(match)
  }
  return found
}

type Evaluate = (match: Match) => string

function replace(regex: RE2JS, text: string, by: Evaluate, most = Number.MAX_SAFE_INTEGER): string {
  let made = ""
  let from = 0
  for (const match of allMatches(regex, text).slice(0, most)) {
    made += text.slice(from, match.index) + by(match)
    chargeText(made.length)
    from = match.index + match.value.length
  }
  return made + text.slice(from)
}

function expand(replacement: string): Evaluate {
  return (match) => expandReplacement(replacement, (name) => match.known(name)?.value)
}

function split(regex: RE2JS, text: string): string[] {
  const pieces: string[] = []
  let from = 0
  for (const match of allMatches(regex, text)) {
    if (match.value === "" && (match.index === 0 || match.index === text.length)) continue
    pieces.push(
      text.slice(from, match.index),
      ...match.groups
        .slice(1)
        .filter((group) => group.success)
        .map((group) => group.value),
    )
    from = match.index + match.value.length
  }
  pieces.push(text.slice(from))
  return pieces
}

class Regex extends CsObject {
  readonly typeName = "System.Text.RegularExpressions.Regex"
  readonly regex: RE2JS
  readonly pattern: string
  constructor(pattern: string, options: CsEnum | null) {
    super()
    this.pattern = pattern
    this.regex = compile(pattern, options)
  }
  override text(): string {
    return this.pattern
  }
}

type Row = (...values: never[]) => unknown

/** The same five things as members of a Regex, and static with a pattern, without and with options (a timeout is taken and not needed). */
function patternRows(): Record<string, Row> {
  const rows: Record<string, Row> = {}
  const actions: readonly (readonly [
    string,
    string,
    string,
    (regex: RE2JS, text: string, by?: never) => unknown,
  ])[] = [
    ["IsMatch", "", "bool", (regex, text) => matchFrom(regex, text, 0).success],
    ["Match", "", "Match", (regex, text) => matchFrom(regex, text, 0)],
    ["Matches", "", "MatchCollection", (regex, text) => new CsList(allMatches(regex, text))],
    ["Split", "", "string[]", split],
    [
      "Replace",
      "string replacement",
      "string",
      (regex, text, by) => replace(regex, text, expand(by as unknown as string)),
    ],
    [
      "Replace",
      "Func<Match,string> evaluator",
      "string",
      (regex, text, by) => replace(regex, text, by as unknown as Evaluate),
    ],
  ]
  for (const [name, parameter, result, run] of actions) {
    const tail = parameter === "" ? "" : `, ${parameter}`
    rows[`${name}(string text${tail}): ${result}`] = (self: Regex, text: string, by?: never) =>
      run(self.regex, text, by)
    rows[`static ${name}(string text, string pattern${tail}): ${result}`] = (
      text: string,
      pattern: string,
      by?: never,
    ) => run(compile(pattern, null), text, by)
    const options = (text: string, pattern: string, ...rest: never[]): unknown =>
      parameter === ""
        ? run(compile(pattern, rest[0] as never), text)
        : run(compile(pattern, rest[1] as never), text, rest[0] as never)
    rows[`static ${name}(string text, string pattern${tail}, RegexOptions options): ${result}`] = options
    rows[
      `static ${name}(string text, string pattern${tail}, RegexOptions options, TimeSpan timeout): ${result}`
    ] = options
  }
  return rows
}

const regexRows: Record<string, (...values: never[]) => unknown> = {
  ...patternRows(),
  "new(string pattern): Regex": (pattern: string) => new Regex(pattern, null),
  "new(string pattern, RegexOptions options): Regex": (pattern: string, options: CsEnum) =>
    new Regex(pattern, options),
  "new(string pattern, RegexOptions options, TimeSpan timeout): Regex": (pattern: string, options: CsEnum) =>
    new Regex(pattern, options),
  "static Escape(string text): string": (text: string) => {
    chargeText(text.length * 2)
    return text
      .replace(/[\\*+?|{[()^$.# ]/g, "\\$&")
      .replace(/\n/g, "\\n")
      .replace(/\t/g, "\\t")
      .replace(/\r/g, "\\r")
  },
}

export function declareRegex(): void {
  declareEnum("RegexOptions", "System.Text.RegularExpressions", {
    None: 0,
    IgnoreCase: 1,
    Multiline: 2,
    ExplicitCapture: 4,
    Compiled: 8,
    Singleline: 16,
    CultureInvariant: 512,
  })
  declareType("Regex", { holds: (value) => value instanceof Regex }, regexRows)
  declareType(
    "Group",
    { holds: (value) => value instanceof Group },
    {
      "Value: string": (self: Group) => self.value,
      "Success: bool": (self: Group) => self.success,
      "Index: int": (self: Group) => self.index,
      "Length: int": (self: Group) => self.value.length,
    },
  )
  declareType(
    "Match",
    { bases: ["Group"], holds: (value) => value instanceof Match },
    {
      "Groups: GroupCollection": (self: Match) => new Groups(self),
      "NextMatch(): Match": (self: Match) => self.rest(),
      "Result(string replacement): string": (self: Match, template: string) => expand(template)(self),
    },
  )
  declareType(
    "GroupCollection",
    { bases: ["IEnumerable<Group>"], holds: (value) => value instanceof Groups },
    {
      "this[int index]: Group": (self: Groups, index: number) =>
        self.match.groups[index] ?? new Group(null, 0),
      "this[string name]: Group": (self: Groups, name: string) => self.match.named(name),
      "Count: int": (self: Groups) => self.match.groups.length,
    },
  )
  declareType(
    "MatchCollection",
    { bases: ["IReadOnlyList<Match>", "IEnumerable<Match>"] },
    {
      "Count: int": (self: CsList) => self.items.length,
      "this[int index]: Match": (self: CsList, index: number) => self.at(index),
    },
  )
}
