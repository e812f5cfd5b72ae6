import type { StepOf } from "../../runtime/plan/steps.ts"
import { breaking, type Finding, neutral, opens } from "../analysis/finding.ts"
import { listWords, textWords } from "../analysis/words.ts"

type Cors = Omit<StepOf<"cors">, "kind">
type Sides = { readonly before: Cors; readonly after: Cors }

/** What two lists have different where `*` stands for everything, and an entry may cover others. */
interface Difference {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** The entries of each list that the other does not cover. */
export function uncovered(
  before: readonly string[],
  after: readonly string[],
  covers: (wide: string, narrow: string) => boolean = (wide, narrow) => wide === narrow,
): Difference {
  const lacking = (list: readonly string[], other: readonly string[]) =>
    list.filter((each) => !other.some((wide) => wide === "*" || covers(wide, each)))
  return { added: lacking(after, before), removed: lacking(before, after) }
}

/** Which pages may call. */
export function originChanges(before: Cors["origins"], after: Cors["origins"]): Finding[] {
  const { added, removed } = uncovered(before.map(originKey), after.map(originKey), coversOrigin)
  const pages = (origins: readonly string[]) => (origins.includes("*") ? "every site" : listed(origins))
  return findings(added, removed, {
    opens: `pages of ${pages(added)} may call now`,
    breaking: removed.includes("*")
      ? `only pages of ${pages(after.map(originKey))} can call now, those of other sites cannot any more`
      : `pages of ${pages(removed)} cannot call any more`,
    same: "the same sites, written otherwise",
  })
}

/** Methods of calls that browsers ask about before. No method in the list stands for GET and POST. */
export function methodChanges(before: Cors["methods"], after: Cors["methods"]): Finding[] {
  const all = (methods: readonly string[]) => (methods.length === 0 ? ["GET", "POST"] : methods)
  const { added, removed } = uncovered(all(before), all(after))
  return findings(added, removed, {
    opens: `pages may call with ${added.includes("*") ? "every method" : listed(added)} now`,
    breaking: removed.includes("*")
      ? `pages can call with ${listed(all(after))} only, not with every method`
      : `pages cannot call with ${listed(removed)} any more`,
    same: "the same methods, written otherwise",
  })
}

/** Fields of requests that pages may set. */
export function requestHeaderChanges(before: Cors["headers"], after: Cors["headers"]): Finding[] {
  const { added, removed } = uncovered(before, after)
  return findings(added, removed, {
    opens: `pages may send ${added.includes("*") ? "every header" : listed(added)} now`,
    breaking: removed.includes("*")
      ? `pages can send ${after.length === 0 ? "no header of their own" : `${listed(after)} only`}, not every header`
      : `pages cannot send ${listed(removed)} any more`,
    same: "the same headers, written otherwise",
  })
}

/** Fields of answers that pages may read. With credentials `*` is the name of a field like any other (Fetch standard section 3.2.1). */
export function exposeChanges(before: Cors["expose"], after: Cors["expose"], sides: Sides): Finding[] {
  const readable = (names: readonly string[], { credentials }: Cors) =>
    credentials ? names.filter((name) => name !== "*") : names
  const [old, next] = [readable(before, sides.before), readable(after, sides.after)]
  const { added, removed } = uncovered(old, next)
  return findings(added, removed, {
    opens: `pages may read ${added.includes("*") ? "every header of answers" : listed(added)} now`,
    breaking: removed.includes("*")
      ? `pages can read ${next.length === 0 ? "no header of their own choice" : `${listed(next)} only`}, not every header of answers`
      : `pages cannot read ${listed(removed)} any more`,
    same: "the same headers can be read, written otherwise",
  })
}

function findings(
  added: readonly string[],
  removed: readonly string[],
  words: { readonly opens: string; readonly breaking: string; readonly same: string },
): Finding[] {
  return [
    ...(added.length === 0 ? [] : [opens(words.opens)]),
    ...(removed.length === 0 ? [] : [breaking(words.breaking)]),
    ...(added.length + removed.length === 0 ? [neutral(words.same)] : []),
  ]
}

function listed(names: readonly string[]): string {
  return listWords(names.map((name) => `\`${name}\``))
}

/** An origin as browsers send it: in lower case, without the scheme's own port and without a path. What a request decides is its text. */
function originKey(origin: Cors["origins"][number]): string {
  if (typeof origin !== "string") return textWords(origin)
  const lower = origin.toLowerCase().replace(/\/$/, "")
  return lower.startsWith("https://") ? lower.replace(/:443$/, "") : lower.replace(/:80$/, "")
}

/** `https://*.example.com` stands for every name below `example.com`, and for no port but the one it says. */
function coversOrigin(wide: string, narrow: string): boolean {
  if (wide === narrow) return true
  const [scheme, host] = wide.split("://*.", 2)
  if (scheme === undefined || host === undefined) return false
  return narrow.startsWith(`${scheme}://`) && narrow.endsWith(`.${host}`)
}
