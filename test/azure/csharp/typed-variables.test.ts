import { expect, test } from "vitest"
import { toText } from "../../../runtime/azure/csharp/values.ts"
import { CsharpError } from "../../../runtime/expression/expression-error.ts"
import { fakeContext } from "./fake-context.ts"
import { run } from "./run.ts"

const variables = new Map<string, unknown>([
  ["yes", "true"],
  ["no", " False "],
  ["word", "maybe"],
  ["count", "12"],
  ["amount", "1.5"],
  ["number", 7],
  ["flag", true],
  ["guid", "{6F9619FF-8B86-D011-B42D-00CF4FC964FF}"],
  ["time", "2026-01-02T03:04:05Z"],
  ["span", "1.02:03:04"],
])

/** `GetValueOrDefault<T>` of a variable; `set-variable` with a text leaves a text, whatever it is read as. */
function read(source: string): string {
  try {
    return toText(run(`@(context.Variables.${source})`, fakeContext({ variables })))
  } catch (error) {
    if (error instanceof CsharpError) return `! ${error.reason}`
    throw error
  }
}

test.each([
  ['GetValueOrDefault<bool>("yes")', "True"],
  ['GetValueOrDefault<bool>("yes", false)', "True"],
  ['GetValueOrDefault<bool>("no", true)', "False"],
  ['GetValueOrDefault<bool?>("yes")', "True"],
  ['GetValueOrDefault<bool>("none", true)', "True"],
  ['GetValueOrDefault<bool>("flag")', "True"],
  ['GetValueOrDefault<int>("count") + 1', "13"],
  ['GetValueOrDefault<long>("count", 1L)', "12"],
  ['GetValueOrDefault<double>("amount")', "1.5"],
  ['GetValueOrDefault<string>("number", "")', "7"],
  ['GetValueOrDefault<string>("flag")', "True"],
  ['GetValueOrDefault<bool>("word")', "! InvalidCastException"],
  ['GetValueOrDefault<bool>("number")', "! InvalidCastException"],
  ['GetValueOrDefault<int>("word")', "! FormatException"],
  ['GetValueOrDefault<Guid>("guid")', "6f9619ff-8b86-d011-b42d-00cf4fc964ff"],
  ['GetValueOrDefault<Guid>("none", Guid.Empty) == Guid.Empty', "True"],
  ['GetValueOrDefault<DateTime>("time").Year', "2026"],
  ['GetValueOrDefault<DateTimeOffset>("time").ToUnixTimeSeconds()', "1767323045"],
  ['GetValueOrDefault<TimeSpan>("span").TotalHours > 26', "True"],
  ['GetValueOrDefault<TimeSpan?>("span").Value.Days', "1"],
  ['GetValueOrDefault<Guid>("word")', "! FormatException"],
  ['GetValueOrDefault<JObject>("word")', "! InvalidCastException"],
])("%s", (source, expected) => {
  expect(read(source)).toBe(expected)
})
