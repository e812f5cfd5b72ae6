import { characterSet, lineEnds } from "./character-set.ts"
import { type Dialect, PatternError, type PatternFlags } from "./dialect.ts"
import { ClassReader } from "./parse-class.ts"
import type { Capture, PatternNode } from "./syntax-tree.ts"

export interface ParsedPattern {
  readonly root: PatternNode
  /** Number of groups, not counting the whole match. */
  readonly groupCount: number
  readonly names: ReadonlyMap<string, number>
}

/** Limit on nested groups: parsing and compiling are recursive. */
const depthMax = 100
/** A quantifier with a larger bound always yields a program that is too large. */
const countMax = 100_000

type Flags = Required<PatternFlags>

/** Parses a pattern. @throws PatternError */
export function parsePattern(source: string, dialect: Dialect, flags: PatternFlags): ParsedPattern {
  return new PatternParser(source, dialect).parse({
    ignoreCase: flags.ignoreCase === true,
    multiline: flags.multiline === true,
    dotAll: flags.dotAll === true,
  })
}

class PatternParser extends ClassReader {
  #depth = 0
  readonly #captures: Capture[] = []
  /** A reference can come before its group, so references are resolved at the end. */
  readonly #references: { group: Capture; to: string }[] = []

  parse(flags: Flags): ParsedPattern {
    const root = this.#choice(flags)
    if (this.at < this.source.length) throw new PatternError("a `)` has no opening `(`")
    const names = this.#number()
    for (const reference of this.#references) {
      const found = this.#captures.find(
        ({ name, number }) => name === reference.to || String(number) === reference.to,
      )
      if (found === undefined)
        throw new PatternError(`it refers to a group that does not exist: ${reference.to}`)
      reference.group.number = found.number
    }
    const groupCount = Math.max(0, ...this.#captures.map(({ number }) => number))
    return { root, groupCount, names }
  }

  /** ECMAScript numbers groups by position. .NET numbers named groups after the others, and groups of the same name are one group. */
  #number(): Map<string, number> {
    const named = this.#captures.filter(({ name }) => name !== undefined)
    const order =
      this.dialect === "ecma"
        ? this.#captures
        : [...this.#captures.filter(({ name }) => name === undefined), ...named]
    const names = new Map<string, number>()
    let last = 0
    for (const capture of order) {
      const known = capture.name === undefined ? undefined : names.get(capture.name)
      if (known !== undefined && this.dialect === "ecma")
        throw new PatternError(`two groups have the name ${capture.name}`)
      if (known === undefined) last += 1
      capture.number = known ?? last
      if (capture.name !== undefined) names.set(capture.name, capture.number)
    }
    return names
  }

  /** Flags set inside a group end with the group: each call has its own copy. */
  #choice(flags: Flags): PatternNode {
    if (++this.#depth > depthMax) throw new PatternError("its groups are nested too deeply")
    const own = { flags }
    const items: PatternNode[] = [this.#sequence(own)]
    while (this.take("|")) items.push(this.#sequence(own))
    this.#depth -= 1
    return items.length === 1 ? (items[0] as PatternNode) : { kind: "choice", items }
  }

  #sequence(own: { flags: Flags }): PatternNode {
    const items: PatternNode[] = []
    while (this.at < this.source.length && !this.sees("|") && !this.sees(")")) {
      const from = this.#captures.length
      const item = this.#atom(own)
      if (item !== undefined) items.push(this.#repeated(item, this.#captures.slice(from)))
    }
    return items.length === 1 ? (items[0] as PatternNode) : { kind: "sequence", items }
  }

  #repeated(item: PatternNode, inside: readonly Capture[]): PatternNode {
    const bounds = this.#quantifier()
    if (bounds === undefined) return item
    const [min, max] = bounds
    if (max < min) throw new PatternError("a quantifier ends before it begins")
    const greedy = !this.take("?")
    if (this.#quantifier() !== undefined) throw new PatternError("a quantifier follows a quantifier")
    return { kind: "repeat", item, min, max, greedy, inside }
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.take("*")) return [0, Number.POSITIVE_INFINITY]
    if (this.take("+")) return [1, Number.POSITIVE_INFINITY]
    if (this.take("?")) return [0, 1]
    // A brace that does not start a quantifier is a literal.
    const [written, min, comma, max] = this.match(/\{(\d{1,9})(,(\d{1,9})?)?\}/y) ?? []
    if (written === undefined) return undefined
    const low = Math.min(Number(min), countMax)
    if (comma === undefined) return [low, low]
    return [low, max === undefined ? Number.POSITIVE_INFINITY : Math.min(Number(max), countMax)]
  }

  /** Undefined if it was a comment, or flags. */
  #atom(own: { flags: Flags }): PatternNode | undefined {
    const { flags } = own
    if (this.take("(")) return this.#group(own)
    if (this.take("[")) return { kind: "set", set: this.characterClass(flags.ignoreCase) }
    if (this.take("\\")) return this.#escape(flags)
    if (this.take("^")) return { kind: "anchor", anchor: flags.multiline ? "line-start" : "start" }
    if (this.take("$")) {
      const end = this.dialect === "dotnet" ? "final" : "end"
      return { kind: "anchor", anchor: flags.multiline ? "line-end" : end }
    }
    if (this.take(".")) {
      const items = flags.dotAll ? [] : lineEnds[this.dialect]
      return { kind: "set", set: characterSet(items, { negative: true, ignoreCase: false }) }
    }
    if (/[*+?]/.test(this.source[this.at] as string))
      throw new PatternError("a quantifier has nothing before it")
    return { kind: "character", code: this.next(), ignoreCase: flags.ignoreCase }
  }

  #group(own: { flags: Flags }): PatternNode | undefined {
    const { flags } = own
    if (!this.take("?")) return this.#captured(undefined, flags)
    if (this.take(":")) return this.#closed(this.#choice(flags))
    const [look] = this.match(/<?[=!]/y) ?? []
    if (look !== undefined) {
      const item = this.#closed(this.#choice(flags))
      return { kind: "look", ahead: !look.startsWith("<"), negative: look.endsWith("!"), item }
    }
    const [, inAngles, inQuotes] = this.match(/P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'/y) ?? []
    const name = inAngles ?? (this.dialect === "dotnet" ? inQuotes : undefined)
    if (name !== undefined) return this.#captured(name, flags)
    if (this.dialect === "dotnet") {
      if (this.take(">")) return { kind: "atomic", item: this.#closed(this.#choice(flags)) }
      if (this.match(/#[^)]*\)/y) !== undefined) return undefined
    }
    return this.#flagged(own)
  }

  #captured(name: string | undefined, flags: Flags): PatternNode {
    const group: Capture = { name, number: 0 }
    this.#captures.push(group)
    return { kind: "group", group, item: this.#closed(this.#choice(flags)) }
  }

  #closed(item: PatternNode): PatternNode {
    if (!this.take(")")) throw new PatternError("a `(` is not closed")
    return item
  }

  /** `(?i-m:…)`, or `(?i)` for the rest of the enclosing group. */
  #flagged(own: { flags: Flags }): PatternNode | undefined {
    const [, set = "", unset = "", close] = this.match(/([ims]*)(?:-([ims]+))?([:)])/y) ?? []
    if (close === undefined) throw new PatternError("a group starts with a syntax that is not supported")
    const one = (letter: string, now: boolean): boolean =>
      unset.includes(letter) ? false : set.includes(letter) || now
    const { flags } = own
    const changed = {
      ignoreCase: one("i", flags.ignoreCase),
      multiline: one("m", flags.multiline),
      dotAll: one("s", flags.dotAll),
    }
    if (close === ":") return this.#closed(this.#choice(changed))
    own.flags = changed
    return undefined
  }

  #escape({ ignoreCase }: Flags): PatternNode {
    // ECMAScript has no `\\A` and `\\z`, but schemas use them with this meaning.
    const anchor = this.match(/[bBAzZ]/y)?.[0]
    if (anchor !== undefined) return { kind: "anchor", anchor: escapedAnchors[anchor as "b"] }
    const [, inAngles, inQuotes, digits] = this.match(/k<([A-Za-z_]\w*)>|k'([A-Za-z_]\w*)'|([1-9]\d?)/y) ?? []
    const to = inAngles ?? inQuotes ?? digits
    if (to !== undefined) {
      const group: Capture = { name: undefined, number: 0 }
      this.#references.push({ group, to })
      return { kind: "reference", group, ignoreCase }
    }
    const items = this.shorthand()
    if (items !== undefined) return { kind: "set", set: characterSet(items, { negative: false, ignoreCase }) }
    return { kind: "character", code: this.escapedCharacter(), ignoreCase }
  }
}

const escapedAnchors = { b: "word", B: "no-word", A: "start", z: "end", Z: "final" } as const
