import { binds, type Cel, cel, compared, constant, type Folding, inside } from "./cel.ts"
import { none } from "./translation.ts"

/** The part of a text that a constant is compared with. */
export type Extent = "all" | "start" | "end" | "part"

const fold: Readonly<Record<Folding, (text: string) => string>> = {
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
}

/** Some non-ASCII letters become two or three ASCII letters in upper case (`ß` → `SS`). A constant may begin or end inside of one. */
const ligatures = /SS|FF|FI|FL|ST/

/** Compares a text, converted to one case, with an ASCII constant: equal, prefix, suffix or substring. The result is a pattern. @throws NoCounterpart */
export function matching(
  of: Cel,
  by: Folding,
  wanted: Cel,
  { extent, notes }: { extent: Extent; notes: Set<string> },
): Cel {
  const sought = wanted.constant
  if (typeof sought !== "string" || wanted.ascii !== true || of.kind !== "string")
    return none("upper and lower case of letters that are not ASCII's")
  if (of.constant !== undefined) return constant(holds(fold[by](String(of.constant)), sought, extent))
  // A text converted to one case contains no letter of the other case.
  if (fold[by](sought) !== sought) return constant(false)
  if (by === "upper" && ligatures.test(sought)) return inAscii(asciiOnly(of, notes), by, wanted, extent)
  const start = extent === "all" || extent === "start" ? "^" : ""
  const end = extent === "all" || extent === "end" ? "$" : ""
  const letters = [...sought].map((letter, at) =>
    unitsOf(letter, by, {
      first: at === 0 && start === "",
      last: at === sought.length - 1 && end === "",
    }),
  )
  const pattern = `${start}${joinedClasses([...sought], letters)}${end}`
  return cel(`${inside(of, binds.primary)}.matches(${JSON.stringify(pattern)})`, "bool", { total: of.total })
}

const asked: Readonly<Record<Exclude<Extent, "all">, string>> = {
  start: "startsWith",
  end: "endsWith",
  part: "contains",
}

function inAscii(of: Cel, by: Folding, wanted: Cel, extent: Extent): Cel {
  const text = cel(`${inside(of, binds.primary)}.${by}Ascii()`, "string", { total: of.total })
  if (extent === "all") return compared(text, "==", wanted)
  return cel(`${text.text}.${asked[extent]}(${wanted.text})`, "bool", { total: of.total })
}

/** Whether a text converted to one case is compared with a constant. */
export function isInOneCase(a: Cel, b: Cel): boolean {
  return (a.folded ?? b.folded) !== undefined && typeof (a.folded === undefined ? a : b).constant === "string"
}

/** `a == b` where one side was converted to one case and the other is a constant. @throws NoCounterpart */
export function sameInAnyCase(left: Cel, right: Cel, notes: Set<string>): Cel {
  const { folded } = left.folded === undefined ? right : left
  const wanted = left.folded === undefined ? left : right
  if (folded === undefined) return none("upper and lower case of letters that are not ASCII's")
  return matching(folded.of, folded.by, wanted, { extent: "all", notes })
}

function holds(text: string, sought: string, extent: Extent): boolean {
  if (extent === "all") return text === sought
  return extent === "start"
    ? text.startsWith(sought)
    : extent === "end"
      ? text.endsWith(sought)
      : text.includes(sought)
}

interface Edges {
  readonly first: boolean
  readonly last: boolean
}

/** All UTF-16 units that become this letter in the given case. At an open edge also those whose conversion starts or ends with it. */
function unitsOf(letter: string, by: Folding, { first, last }: Edges): string {
  return expansions(by)
    .filter(
      ([, made]) =>
        made === letter ||
        (last && made.startsWith(letter)) ||
        (first && made.endsWith(letter)) ||
        (first && last && made.includes(letter)),
    )
    .map(([unit]) => unit)
    .join("")
}

const known = new Map<Folding, readonly (readonly [string, string])[]>()

/** Every UTF-16 unit whose conversion contains an ASCII character, with that conversion. */
function expansions(by: Folding): readonly (readonly [string, string])[] {
  const found = known.get(by) ?? []
  if (found.length > 0) return found
  const made: [string, string][] = []
  for (let code = 0; code < 0x10000; code++) {
    const unit = String.fromCharCode(code)
    const folded = fold[by](unit)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes control characters.
    if (/[\u0000-\u007f]/.test(folded)) made.push([unit, folded])
  }
  known.set(by, made)
  return made
}

/** Letters with exactly two units, upper and lower case, are joined in `(?i:…)`. `k` and `s` have a third unit there. */
function joinedClasses(letters: readonly string[], units: readonly string[]): string {
  const isPlain = (at: number): boolean => {
    const letter = (letters[at] as string).toLowerCase()
    const both = [letter, letter.toUpperCase()].sort().join("")
    return (
      !"ks".includes(letter) &&
      [...(units[at] as string)].sort().join("") === (/[a-z]/.test(letter) ? both : letter)
    )
  }
  let pattern = ""
  let run = ""
  const ended = (): string => (/[a-z]/i.test(run) ? `(?i:${run})` : run)
  for (const [at, letter] of letters.entries()) {
    if (isPlain(at)) {
      run += literalOf(letter)
      continue
    }
    pattern += ended() + classOf(units[at] as string)
    run = ""
  }
  return pattern + ended()
}

const literalOf = (letter: string): string =>
  /[A-Za-z0-9 \-_/:=,;@#%&!"'<>~]/.test(letter) ? letter : `\\x${hex(letter).padStart(2, "0")}`

function classOf(units: string): string {
  return `[${[...units].map((unit) => (/[A-Za-z0-9]/.test(unit) ? unit : `\\x{${hex(unit)}}`)).join("")}]`
}

const hex = (unit: string): string => unit.charCodeAt(0).toString(16)

/** A text that must be ASCII, so that both languages measure and cut it the same. Other texts have no value. */
export function asciiOnly(text: Cel, notes: Set<string>): Cel {
  if (text.ascii === true) return text
  notes.add("a text that is measured, cut or brought to one case is ASCII, else the call fails here")
  return cel(`[${text.text}].filter(t, t.matches("^[\\\\x00-\\\\x7f]*$"))[0]`, "string", {
    total: false,
    ascii: true,
  })
}

/** A value for any use: not a secret, and a text that is measured or converted to one case must be ASCII. */
export function ordinary(value: Cel, notes: Set<string>): Cel {
  if (value.secret !== undefined) return none("secrets in expressions")
  if (value.writes !== undefined) return none("JSON as a string that is not a body")
  const { folded, measured } = value
  if (measured !== undefined) return cel(`size(${asciiOnly(measured, notes).text})`, "int", { total: false })
  if (folded === undefined) return value
  const text = asciiOnly(folded.of, notes)
  return cel(`${inside(text, binds.primary)}.${folded.by}Ascii()`, "string", { total: false, ascii: true })
}
