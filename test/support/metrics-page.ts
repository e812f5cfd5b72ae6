import { spawnSync } from "node:child_process"

/** The rules of `promtool check metrics`, in its words. */
export function breachesOf(page: string): string[] {
  const found: string[] = []
  const types = new Map(
    [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type]) => [name, type]),
  )
  for (const [name, type] of types) {
    if (!new RegExp(`^# HELP ${name} \\S.*[^ ]$`, "m").test(page)) found.push(`${name} no help text`)
    if ((type === "counter") !== name.endsWith("_total"))
      found.push(`${name} counters end in "_total", others do not`)
    if (/_(?:bucket|count|sum)$/.test(name)) found.push(`${name} non-histogram with a histogram's suffix`)
    if (new RegExp(`_${type}(?:_|$)`).test(name)) found.push(`${name} the name contains its type`)
    if (/[A-Z:]/.test(name)) found.push(`${name} names are snake_case without colons`)
    if (/_(?:ms|milliseconds|minutes|hours|kb|mb|kilobytes|megabytes|percent)(?:_|$)/.test(name))
      found.push(`${name} not in base units`)
  }
  for (const [, name = "", labels = ""] of page.matchAll(/^([a-zA-Z_:][\w:]*)\{(.*)\} \S+$/gm)) {
    const isBucket = name.endsWith("_bucket") && types.get(name.slice(0, -"_bucket".length)) === "histogram"
    if (/(?:^|,)le="/.test(labels) && !isBucket) found.push(`${name} non-histogram with the label "le"`)
    if (/(?:^|,)quantile="/.test(labels)) found.push(`${name} non-summary with the label "quantile"`)
  }
  const samples = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  const form =
    /^[a-zA-Z_][\w]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (?:[+-]?(?:\d[\d.e+-]*|Inf)|NaN)$/
  return [...found, ...samples.filter((line) => !form.test(line)).map((line) => `not a sample: ${line}`)]
}

/** Runs promtool and returns what it printed and its exit status; undefined where it is not installed. */
export function promtool(
  words: readonly string[],
  input = "",
): { readonly status: number | null; readonly output: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync("promtool", words, { input, encoding: "utf8" })
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return undefined
  if (error !== undefined) throw error
  return { status, output: stderr + stdout }
}
