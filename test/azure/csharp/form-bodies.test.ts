import { expect, test } from "vitest"
import { toText } from "../../../runtime/azure/csharp/values.ts"
import { body, fakeContext } from "./fake-context.ts"
import { run } from "./run.ts"

/** What an expression gives where the request's body is this form. */
function ofForm(form: string | undefined, source: string): string {
  const context = fakeContext()
  return toText(run(source, { ...context, request: { ...context.request, body: body(form) } }))
}

const form = "context.Request.Body.AsFormUrlEncodedContent()"

test.each([
  ["is a dictionary of lists", `@(${form}["a"][0] + ${form}["a"].Count + ${form}["a"].First())`, "121"],
  [
    "takes lists",
    `@{ var f = ${form}; f.Add("c", new List<string> { "x y" }); f["b"] = new List<string> { "9" }; return f.ToFormUrlEncodedContent(); }`,
    "a=1&a=3&b=9&c=x+y",
  ],
  [
    "has lists that grow and shrink",
    `@{ var f = ${form}; f["a"].Add("4"); f["a"].RemoveAt(0); f["b"].Insert(0, "0"); f["a"][0] = "5"; f["b"].Remove("2"); return f.ToFormUrlEncodedContent(); }`,
    "a=5&a=4&b=0",
  ],
  [
    "is typed by its interface",
    `@{ IDictionary<string, IList<string>> f = ${form}; IList<string> a = f["a"]; f.Remove("b"); return string.Join("|", a) + f.Count + a.IndexOf("3") + a.Contains("9"); }`,
    "1|311False",
  ],
  ["gives what is not there as null", `@((${form}.GetValueOrDefault("z") == null) + "")`, "True"],
  ["gives values in queries", `@(${form}.Where(p => p.Key != "b").SelectMany(p => p.Value).Count())`, "2"],
  [
    "is tried",
    `@{ IList<string> found; return ${form}.TryGetValue("b", out found) ? found[0] : "none"; }`,
    "2",
  ],
  [
    "is made of other dictionaries too",
    `@(new Dictionary<string, IList<string>> { { "k", new List<string> { "1", "2" } } }.ToFormUrlEncodedContent())`,
    "k=1&k=2",
  ],
  ["is joined by whoever wants one text", `@(string.Join(",", ${form}["a"]))`, "1,3"],
])("a form %s", (_, source, expected) => {
  expect(ofForm("a=1&b=2&a=3", source)).toBe(expected)
})

test("no body is an empty form", () => {
  expect(ofForm(undefined, `@(${form}.Count)`)).toBe("0")
})
