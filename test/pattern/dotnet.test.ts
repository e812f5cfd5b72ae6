import { expect, test } from "vitest"
import { BoundedPattern } from "../../runtime/pattern/bounded-pattern.ts"
import { PatternError } from "../../runtime/pattern/dialect.ts"
import { PatternWorkError } from "../../runtime/pattern/run-program.ts"

/** The whole match and its groups; `-` took nothing. */
function search(source: string, text: string, steps = 100_000): string[] | undefined {
  const found = new BoundedPattern(source, "dotnet").over(text).next(0, { stepsLeft: steps })
  return (
    found &&
    Array.from({ length: found.length / 2 }, (_, group) =>
      (found[group * 2] as number) < 0 ? "-" : text.slice(found[group * 2], found[group * 2 + 1]),
    )
  )
}

test.each([
  ["^(?=.*[A-Z])(?=.*\\d).{8,}$", "Passw0rdx", ["Passw0rdx"]],
  ["^(?=.*[A-Z])(?=.*\\d).{8,}$", "password1", undefined],
  ["(?<=/orders/)\\d+", "/v1/orders/42/items", ["42"]],
  ["(?<!\\d)\\d{3}(?!\\d)", "1234 567", ["567"]],
  ["(['\"])(.*?)\\1", `x="it's"`, [`"it's"`, '"', "it's"]],
  ["(?<q>['\"]).*?\\k<q>", "'a' 'b'", ["'a'", "'"]],
  ["(?i)(ab)\\1", "aBAb", ["aBAb", "aB"]],
  // Groups with names are counted behind the others.
  ["(?<n>a)(b)(?=c)", "abc", ["ab", "b", "a"]],
  ["(?<n>a)|(?<n>b)(?=c)", "bc", ["b", "b"]],
  // An atomic group gives nothing back.
  ["(?>a*)ab", "aaab", undefined],
  ["(?>a|ab)c", "abc", undefined],
  ["(?>a+)b", "aab", ["aab"]],
  // The end of a text may have a line feed behind it, but for `\z`.
  ["(?=a)a$", "a\n", ["a"]],
  ["(?=a)a\\z", "a\n", undefined],
  ["(?=a)a\\Z", "a\n", ["a"]],
  ["(?m)^(?=b)b$", "a\nb\nc", ["b"]],
  // Letters and digits of all scripts.
  ["(?=.)\\w+", "éü-x", ["éü"]],
  ["(?=.)\\d", "x٣", ["٣"]],
  ["(?=.)[a-z-[aeiou]]+", "aeibcd", ["bcd"]],
  ["(?=.)\\p{Lu}+", "abÉC", ["ÉC"]],
  // A group that took nothing is referred to in vain.
  ["(?:(a)|b)\\1", "b", undefined],
  ["(?#comment)(?=a)a", "a", ["a"]],
  ["(?=a)a{,2}", "a{,2}", ["a{,2}"]],
  ["(?:a?)*?(?=b)b", "aab", ["aab"]],
  ["(?s-i:a.b)(?=C)", "a\nbC", ["a\nb"]],
  ["(?=x)[]a]", "]x", undefined],
  ["(?!x)[]a]", "]x", ["]"]],
])("%s in %j", (source, text, expected) => {
  expect(search(source, text)).toEqual(expected)
})

test.each([
  ["(?=a", "a `(` is not closed"],
  ["a)", "a `)` has no opening `(`"],
  ["(a)\\2", "it refers to a group that does not exist: 2"],
  ["(?(1)a|b)", "a group starts with a syntax that is not supported"],
  ["(?<a-b>x)", "a group starts with a syntax that is not supported"],
  ["*a", "a quantifier has nothing before it"],
  ["a**", "a quantifier follows a quantifier"],
  ["a{3,2}", "a quantifier ends before it begins"],
  ["[b-a]", "a range of characters ends before it begins"],
  ["[a", "it ends too early"],
  ["a\\", "it ends too early"],
  ["\\y", "`\\y` is not a valid escape"],
  ["\\p{Nope}", "it uses an unknown property: Nope"],
  ["((a{500}){500}){500}", "it is too large"],
  [`${"(".repeat(200)}${")".repeat(200)}`, "its groups are nested too deeply"],
  ["a".repeat(8_193), "it has more than 8192 characters"],
])("%s is refused", (source, message) => {
  expect(() => new BoundedPattern(source, "dotnet")).toThrow(new PatternError(message))
})

test.each([
  ["^(?=(a|a)*b)", "a".repeat(40)],
  ["^(?=(a+)+$)(?!b)", `${"a".repeat(40)}!`],
  ["(x+x+)+\\1y", "x".repeat(60)],
  ["(?=(?:a?){50}a{50}$)", "a".repeat(49)],
  ["(?<=^c(a|a)*)b", `${"a".repeat(40)}b`],
])("%s stops when its steps are used up", (source, text) => {
  expect(() => search(source, text)).toThrow(PatternWorkError)
})

test("no text is too long for what a pattern keeps in mind", () => {
  const text = "ab".repeat(20_000)
  expect(search("^(?:a|b)*(?=$)", text, 2_000_000)?.[0]).toHaveLength(text.length)
  expect(search("^(?:(?=[ab])(a|b))*$", text, 2_000_000)?.[0]).toHaveLength(text.length)
})

/** All matches, one behind the other. */
function countMatches(source: string, text: string, steps: number): number {
  const search = new BoundedPattern(source, "dotnet").over(text)
  const work = { stepsLeft: steps }
  let count = 0
  for (let at = 0; ; count++) {
    const found = search.next(at, work)
    if (found === undefined) return count
    at = Math.max(found[1] as number, (found[0] as number) + 1)
  }
}

test.each([
  // Each match, and each place where there is none, would look at all that is left of the text.
  ["a.*b|a", "a".repeat(50_000), 50_000],
  ["[a-z]+@[a-z]+", "a".repeat(50_000), 0],
  ["(\\w+)\\s(\\w+)", "a".repeat(50_000), 0],
  ["^(a+)+b$", "a".repeat(50_000), 0],
  ["^(\\w+\\s?)*$", `${"word ".repeat(10_000)}!`, 0],
  ["(a|b|ab)*c", "ab".repeat(25_000), 0],
])("%s takes steps in the measure of the text, whatever it is", (source, text, count) => {
  expect(countMatches(source, text, text.length * 40)).toBe(count)
})

test.each([
  ["^[A-Za-z0-9+/]*={0,2}$", `${"aGk".repeat(600_000)}==`, 1],
  ["\\d{16}", "a".repeat(2_000_000), 0],
  ['"password":\\s*"[^"]*"', `{"password": "x"},${'{"name": "somebody"},'.repeat(20_000)}`, 1],
])("%s is found in a long text by 600,000 steps", (source, text, count) => {
  expect(countMatches(source, text, 600_000)).toBe(count)
})
