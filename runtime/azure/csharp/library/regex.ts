import { type CsEnum, CsList } from "../collections.ts"
import { argument, argumentNull } from "../errors.ts"
import { compilePattern, expandReplacement, type Pattern, type Search } from "../pattern.ts"
import { charge, chargeItems, chargeText, searching } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { declareEnum } from "./object.ts"

/** Patterns of documents are constants, so a few hundred cover all of them; computed ones push each other out. */
const cacheSizeMax = 200
const cache = new Map<string, Pattern>()

/** Compiles a pattern, or returns it from the cache. */
function compile(pattern: string | null, options: CsEnum | null): Pattern {
  if (pattern === null) throw argumentNull("pattern")
  const flags = {
    ignoreCase: options?.has("IgnoreCase") === true,
    multiline: options?.has("Multiline") === true,
    dotAll: options?.has("Singleline") === true,
    onlyNamed: options?.has("ExplicitCapture") === true,
  }
  const key = `${Object.values(flags).map(Number).join("")}:${pattern}`
  const known = cache.get(key)
  if (known !== undefined) return known
  // Compiling is linear in the pattern, and a program could compile a new one in each round of a loop.
  charge(pattern.length * 10)
  const made = compilePattern(pattern, flags)
  if (typeof made === "string") throw argument(`Invalid pattern '${pattern.slice(0, 100)}': ${made}`)
  // The oldest entry: a `Map` keeps the order of insertion.
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

/** A match and its groups. `rest` finds the next match when it is asked for: `Match` alone needs only the first. */
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

/** `Match.Groups`; the whole match is group 0. */
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

const noMatch = new Match([], new Map(), () => noMatch)

function firstMatch(regex: Pattern, text: string): Match {
  return matchFrom(regex, regex.over(text), text, 0)
}

/** The next match from an offset. An empty match continues one character later, otherwise it would be found forever. */
function matchFrom(regex: Pattern, search: Search, text: string, from: number): Match {
  if (from > text.length) return noMatch
  charge(2)
  const found = searching((work) => search(from, work))
  if (found === undefined) return noMatch
  const groups = Array.from({ length: found.length / 2 }, (_, group) => {
    const [start, end] = [found[group * 2] as number, found[group * 2 + 1] as number]
    return new Group(start < 0 ? null : text.slice(start, end), start)
  })
  const end = found[1] as number
  return new Match(groups, regex.names, () =>
    matchFrom(regex, search, text, end > (found[0] as number) ? end : end + 1),
  )
}

function allMatches(regex: Pattern, text: string): Match[] {
  const found: Match[] = []
  for (let match = firstMatch(regex, text); match.success; match = match.rest()) {
    chargeItems(1)
    found.push(match)
  }
  return found
}

type Evaluate = (match: Match) => string

/** Replaces at most `most` matches. The growing result is charged, because a short pattern can multiply a text. */
function replace(regex: Pattern, text: string, by: Evaluate, most = Number.MAX_SAFE_INTEGER): string {
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

/** `Regex.Split`: the texts of groups are part of the result, as in .NET. */
function split(regex: Pattern, text: string): string[] {
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
  readonly regex: Pattern
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

/** The same five operations as members of a Regex, and as static members with a pattern, with and without options. A timeout is accepted but not needed. */
function patternRows(): Record<string, Row> {
  const rows: Record<string, Row> = {}
  const actions: readonly (readonly [
    string,
    string,
    string,
    (regex: Pattern, text: string, by?: never) => unknown,
  ])[] = [
    ["IsMatch", "", "bool", (regex, text) => firstMatch(regex, text).success],
    ["Match", "", "Match", firstMatch],
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

/** Members of `Regex`. A timeout is accepted and ignored: the work of every search is bounded by the budget of the expression. */
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
